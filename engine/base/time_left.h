// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <chrono>
#include <string>

namespace qs {

/// Estimates the remaining time of a job's stage by linear extrapolation of its progress. One job
/// at a time; one thread.
class TimeLeft
{
public:
    using Clock = std::chrono::steady_clock;

    /// Returns "about 40 s left" for a report at `now`; "" in a stage's first half second, without
    /// progress, and at its end.
    std::string text(const Progress& progress, Clock::time_point now = Clock::now());

private:
    std::string m_stage;
    double m_first = 0; ///< fraction in the stage's first report
    Clock::time_point m_begin;
};

/// Formats a duration of at least one second: "40 s", "3 min", "2 h 5 min".
std::string durationText(double seconds);

} // namespace qs
