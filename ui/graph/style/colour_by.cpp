// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/colour_by.h"

#include "engine/result/part_text.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Formats log2 of a number of bytes: "1.6M".
QString bytesAtScale(double measure)
{
    static const char* const units[] = {"B", "K", "M", "G", "T"};
    const int unit = std::clamp(int(measure / 10), 0, 4);
    const double value = std::exp2(measure - 10 * unit);
    return QString::number(value, 'f', value < 9.95 && unit > 0 ? 1 : 0)
        + QLatin1String(units[unit]);
}

/// Formats log2 of a number of nanoseconds: "12 µs".
QString nanosecondsText(double measure)
{
    double value = std::exp2(measure) / 1000;
    static const char* const units[] = {"µs", "ms", "s"};
    int unit = 0;
    for (; value >= 999.5 && unit < 2; ++unit)
        value /= 1000;
    return QString::number(value, 'f', value < 9.95 ? 1 : 0) + QString::fromUtf8(units[unit]);
}

} // namespace

bool isErrorColour(ColourBy by)
{
    return by >= ColourBy::BornHere;
}

ErrorTerm errorTermOf(ColourBy by)
{
    return isErrorColour(by) ? kErrorTerms[std::size_t(by) - std::size_t(ColourBy::BornHere)]
                             : ErrorTerm::BornHere;
}

QString errorTermText(ErrorTerm term)
{
    static const char* const texts[]
        = {QT_TRANSLATE_NOOP("QObject", "born here"), QT_TRANSLATE_NOOP("QObject", "cumulative"),
           QT_TRANSLATE_NOOP("QObject", "isolated"), QT_TRANSLATE_NOOP("QObject", "inherited")};
    return QObject::tr(texts[int(term)]);
}

const char* colourByName(ColourBy by)
{
    static const char* const names[kColourByCount]
        = {QT_TRANSLATE_NOOP("QObject", "operator"),
           QT_TRANSLATE_NOOP("QObject", "verdict"),
           QT_TRANSLATE_NOOP("QObject", "qconfig"),
           QT_TRANSLATE_NOOP("QObject", "dtype"),
           QT_TRANSLATE_NOOP("QObject", "memory"),
           QT_TRANSLATE_NOOP("QObject", "time"),
           QT_TRANSLATE_NOOP("QObject", "share of the output's noise"),
           QT_TRANSLATE_NOOP("QObject", "imported data"),
           QT_TRANSLATE_NOOP("QObject", "born-here error"),
           QT_TRANSLATE_NOOP("QObject", "cumulative error"),
           QT_TRANSLATE_NOOP("QObject", "isolated error"),
           QT_TRANSLATE_NOOP("QObject", "inherited error")};
    return names[int(by)];
}

QString colourByText(ColourBy by)
{
    return QObject::tr(colourByName(by));
}

QString measureText(ColourBy by, double measure)
{
    switch (by) {
    case ColourBy::Memory:
        return bytesAtScale(measure);
    case ColourBy::Time:
        return nanosecondsText(measure);
    case ColourBy::Noise:
        return toQString(partText(measure));
    case ColourBy::Imported:
        return QString::number(measure, 'g', 3);
    default:
        return shownSqnr(measure, "", 0);
    }
}

std::pair<QString, QString> scaleEnds(ColourBy by, double best, double worst)
{
    const QString low = measureText(by, best), high = measureText(by, worst);
    switch (by) {
    case ColourBy::Memory:
        return {QObject::tr("small %1").arg(low), QObject::tr("large %1").arg(high)};
    case ColourBy::Time:
        return {QObject::tr("short %1").arg(low), QObject::tr("long %1").arg(high)};
    case ColourBy::Noise:
        return {low, QObject::tr("most %1").arg(high)};
    case ColourBy::Imported:
        return {low, high};
    default:
        return {QObject::tr("good %1 dB").arg(low), QObject::tr("worst %1 dB").arg(high)};
    }
}

QColor rampColour(const ColourRamp& ramp, double at)
{
    if (ramp.empty())
        return cividis(at);
    const auto above = std::find_if(ramp.begin(), ramp.end(),
                                    [at](const auto& stop) { return stop.first >= at; });
    if (above == ramp.begin())
        return QColor(ramp.front().second);
    if (above == ramp.end())
        return QColor(ramp.back().second);
    const auto below = above - 1;
    const double share = (at - below->first) / (above->first - below->first);
    const QColor a(below->second), b(above->second);
    const auto mix = [share](int x, int y) { return int(std::lround(x + (y - x) * share)); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

} // namespace qs
