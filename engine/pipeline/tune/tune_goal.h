// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>

namespace qs {

/// When a search may stop.
struct TuneGoal
{
    enum class Kind : std::uint8_t
    {
        Sqnr, ///< of the worst output, dB, at least
        Cosine, ///< of the worst output, at least
        Top1Drop, ///< percentage points, at most: of labelled data the accuracy's, else the share
                  ///< of samples whose highest class is another one
        Metric, ///< the user's own, at least
    };
    Kind kind = Kind::Sqnr;
    double value = 20;
    friend bool operator==(const TuneGoal&, const TuneGoal&) = default;
};
/// "sqnr 20", "cosine 0.98", "top1-drop 0.5", "metric 0.81"; the same back. Errors (Usage): another
/// word, no number, or one that no model can reach.
Result<TuneGoal> parseGoal(const std::string& text);
std::string goalText(const TuneGoal& goal);

/// The SQNR in dB that a goal asks for, as far as it states one (`tellsNoise`): for small noise
/// 1 - cosine is half of noise over signal. Else 20.
double aimedDb(const TuneGoal& goal);
bool tellsNoise(const TuneGoal& goal);

} // namespace qs
