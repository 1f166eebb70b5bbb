// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>

namespace qs {

/// The condition that ends a search.
struct TuneGoal
{
    enum class Kind : std::uint8_t
    {
        Sqnr, ///< of the worst output, dB, at least
        Cosine, ///< of the worst output, at least
        Top1Drop, ///< percentage points, at most: drop of the accuracy on labelled data, else the
                  ///< share of samples whose highest class differs
        Metric, ///< the user's metric, at least
    };
    Kind kind = Kind::Sqnr;
    double value = 20;
    friend bool operator==(const TuneGoal&, const TuneGoal&) = default;
};
/// Parses a goal: "sqnr 20", "cosine 0.98", "top1-drop 0.5" or "metric 0.81"; `goalText` is the
/// inverse. Errors (Usage): another word, a missing number, or one that no model can reach.
Result<TuneGoal> parseGoal(const std::string& text);
std::string goalText(const TuneGoal& goal);

/// The SQNR in dB that a goal requires, if it determines one (`tellsNoise`); else 20. For a cosine:
/// with small noise, 1 - cosine is half of noise over signal.
double aimedDb(const TuneGoal& goal);
bool tellsNoise(const TuneGoal& goal);

} // namespace qs
