// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

#include <QColor>
#include <QString>

#include <utility>
#include <vector>

namespace qs {

/// Meanings of the graph's colours.
enum class ColourBy
{
    Op,
    Verdict,
    QConfig,
    DType, ///< of the result
    Memory, ///< of the result and of the parameters inside
    Time, ///< of one batch
    Noise, ///< share of the outputs' noise
    Imported, ///< measured by another program
    BornHere,
    Cumulative,
    Isolated,
    Inherited
};
inline constexpr int kColourByCount = 12;
bool isErrorColour(ColourBy by);
ErrorTerm errorTermOf(ColourBy by);
/// "born here", "cumulative", "isolated", "inherited".
QString errorTermText(ErrorTerm term);
/// Returns the name for settings: the untranslated text.
const char* colourByName(ColourBy by);
QString colourByText(ColourBy by);
/// Formats a measure for a badge: "38", "exact", "1.6M", "12 µs".
QString measureText(ColourBy by, double measure);
/// Returns the texts at the two ends of a scale: "good 38 dB", "worst 12 dB".
std::pair<QString, QString> scaleEnds(ColourBy by, double best, double worst);

/// The colours along a scale, from its start (0) to its end (1); empty: cividis.
using ColourRamp = std::vector<std::pair<double, QRgb>>;
QColor rampColour(const ColourRamp& ramp, double at);

} // namespace qs
