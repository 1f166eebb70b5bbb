// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <chrono>
#include <string>

namespace qs {

/// Guesses from a job's reports how long its stage will still take: as long again for the same
/// share as it took so far. One job at a time, one thread.
class TimeLeft
{
public:
    using Clock = std::chrono::steady_clock;

    /// "about 40 s left" for a report that came `now`; "" in a stage's first half second, where it
    /// does not say how far it is, and at its end.
    std::string text(const Progress& progress, Clock::time_point now = Clock::now());

private:
    std::string m_stage;
    double m_first = 0; ///< the fraction of the stage's first report
    Clock::time_point m_begin;
};

/// A length of time as a person says it, one second at least: "40 s", "3 min", "2 h 5 min".
std::string durationText(double seconds);

} // namespace qs
