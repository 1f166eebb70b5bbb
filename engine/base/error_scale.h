// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// A colour with eight bits per channel.
struct Rgb
{
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};
/// "#00224e"
std::string hexColour(Rgb colour);
/// Returns black or white, whichever has better contrast on `fill`.
Rgb inkOn(Rgb fill);

/// The cividis palette, safe for colour-blind eyes: 0 = good (dark blue), 1 = worst (yellow). With
/// `onDark` the dark end is lighter, for contrast with a dark background.
Rgb cividis(double badness, bool onDark);

/// The colour scale of errors in decibels for window and report, from the best to the worst
/// measurement. The worst is never clipped. Errors that are above 60 dB and 40 dB better than the
/// worst count as best, because they would stretch the scale and make all others look equal.
class ErrorScale
{
public:
    /// Adds a measurement. Ignores values above 100 dB, which differ only by the order of
    /// summation.
    void include(double db);
    double best() const;
    double worst() const { return m_worst.value_or(20); }
    /// Returns 0 at the best, 1 at the worst; outside [0, 1] beyond them.
    double badness(double db) const { return (best() - db) / (best() - worst()); }

private:
    std::optional<double> m_best, m_worst;
};

} // namespace qs
