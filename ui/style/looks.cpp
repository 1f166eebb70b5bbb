// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/looks.h"

#include "ui/style/theme.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>

namespace qs {

namespace {

const QString kThemeKey = QStringLiteral("theme");
const QString kTextSizeKey = QStringLiteral("textSize");
constexpr const char* kColourWords[] = {"system", "light", "dark"};

Looks appliedLooks;

/// Qt 6.4 does not report the desktop's scheme: its palette before ours shows it.
bool systemIsDark()
{
    static const bool dark = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
    return dark;
}

} // namespace

const QList<int>& textSizes()
{
    static const QList<int> sizes {80, 90, 100, 110, 125, 150, 175, 200};
    return sizes;
}

QString coloursText(Looks::Colours colours)
{
    const QString texts[]
        = {QObject::tr("As the system"), QObject::tr("Light"), QObject::tr("Dark")};
    return texts[int(colours)];
}

Looks keptLooks()
{
    Looks looks;
    const QSettings settings;
    const QString word = settings.value(kThemeKey).toString();
    for (int i = 0; i < 3; ++i)
        if (word == QLatin1String(kColourWords[i]))
            looks.colours = Looks::Colours(i);
    if (const int percent = settings.value(kTextSizeKey).toInt(); textSizes().contains(percent))
        looks.textPercent = percent;
    return looks;
}

void keepLooks(const Looks& looks)
{
    QSettings settings;
    settings.setValue(kThemeKey, QString::fromLatin1(kColourWords[int(looks.colours)]));
    settings.setValue(kTextSizeKey, looks.textPercent);
}

const Looks& looksInUse()
{
    return appliedLooks;
}

void applyLooks(QApplication& app, const Looks& looks)
{
    appliedLooks = looks;
    const bool system = systemIsDark(); // asked before the first palette of ours
    const bool dark
        = looks.colours == Looks::Colours::System ? system : looks.colours == Looks::Colours::Dark;
    applyTheme(app, dark, looks.textPercent);
}

} // namespace qs
