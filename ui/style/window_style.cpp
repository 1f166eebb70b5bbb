// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/window_style.h"

#include "ui/style/theme.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>

namespace qs {

namespace {

const QString kThemeKey = QStringLiteral("theme");
const QString kTextSizeKey = QStringLiteral("textSize");
constexpr const char* kColourWords[] = {"system", "light", "dark"};

WindowStyle appliedStyle;

/// Returns whether the desktop's scheme is dark. Qt 6.4 does not report it; the initial palette
/// shows it.
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

QString coloursText(WindowStyle::Colours colours)
{
    const QString texts[]
        = {QObject::tr("As the system"), QObject::tr("Light"), QObject::tr("Dark")};
    return texts[int(colours)];
}

WindowStyle savedStyle()
{
    WindowStyle style;
    const QSettings settings;
    const QString word = settings.value(kThemeKey).toString();
    for (int i = 0; i < 3; ++i)
        if (word == QLatin1String(kColourWords[i]))
            style.colours = WindowStyle::Colours(i);
    if (const int percent = settings.value(kTextSizeKey).toInt(); textSizes().contains(percent))
        style.textPercent = percent;
    return style;
}

void saveStyle(const WindowStyle& style)
{
    QSettings settings;
    settings.setValue(kThemeKey, QString::fromLatin1(kColourWords[int(style.colours)]));
    settings.setValue(kTextSizeKey, style.textPercent);
}

const WindowStyle& styleInUse()
{
    return appliedStyle;
}

void applyStyle(QApplication& app, const WindowStyle& style)
{
    appliedStyle = style;
    const bool system = systemIsDark(); // before our first palette is set
    const bool dark = style.colours == WindowStyle::Colours::System
        ? system
        : style.colours == WindowStyle::Colours::Dark;
    applyTheme(app, dark, style.textPercent);
}

} // namespace qs
