// SPDX-License-Identifier: Apache-2.0
#include "engine/base/time_left.h"

#include <cmath>

namespace qs {

namespace {

constexpr std::chrono::milliseconds kTooEarly {500};

} // namespace

std::string TimeLeft::text(const Progress& progress, Clock::time_point now)
{
    if (progress.stage != m_stage || progress.fraction < m_first) {
        m_stage = progress.stage;
        m_first = progress.fraction;
        m_begin = now;
        return {};
    }
    const double done = progress.fraction - m_first;
    const auto spent = now - m_begin;
    if (spent < kTooEarly || done <= 0 || progress.fraction >= 1)
        return {};
    const double seconds = std::chrono::duration<double>(spent).count();
    return "about " + durationText(seconds * (1 - progress.fraction) / done) + " left";
}

std::string durationText(double seconds)
{
    if (seconds < 1)
        return "1 s";
    if (seconds < 90)
        return std::to_string(std::llround(seconds)) + " s";
    const auto minutes = std::llround(seconds / 60);
    if (minutes < 90)
        return std::to_string(minutes) + " min";
    return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

} // namespace qs
