// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// A colour, eight bits a channel.
struct Rgb
{
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};
/// "#00224e"
std::string hexColour(Rgb colour);
/// Black or white, whichever reads better on `fill`.
Rgb inkOn(Rgb fill);

/// The cividis palette, safe for colour-blind eyes: 0 = good (dark blue), 1 = worst (yellow). On a
/// dark ground the dark end is lifted, so that it stands out.
Rgb cividis(double badness, bool onDark);

/// The colour scale of errors in decibels, of the window and of the report: from the best to the
/// worst that was measured. The worst is never cut off. Errors above 60 dB and 40 dB better than
/// the worst count as best: they would stretch the scale until all others look alike.
class ErrorScale
{
public:
    /// Takes a measurement in. A value above 100 dB, which only the order of sums explains, is
    /// ignored.
    void include(double db);
    double best() const;
    double worst() const { return m_worst.value_or(20); }
    /// 0 at the best, 1 at the worst; beyond them outside.
    double badness(double db) const { return (best() - db) / (best() - worst()); }

private:
    std::optional<double> m_best, m_worst;
};

} // namespace qs
