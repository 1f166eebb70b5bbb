// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <chrono>
#include <memory>
#include <stop_token>

namespace qs {

/// Cancels the running job on Ctrl-C, and when the time limit ends. A second Ctrl-C ends the
/// program; so does a job that has not stopped a few seconds after its time limit. Create one per
/// program, before other threads exist.
class JobWatch
{
public:
    /// `time`: the limit; 0 = none.
    JobWatch(std::stop_source stop, std::chrono::milliseconds time);

    /// Records the job's progress and shows it.
    void progress(const Progress& progress) const;

    /// Returns the error for the user: a cancel by the time limit gets a message with the limit and
    /// the place; another cancel gets no place.
    Error told(Error error) const;

private:
    struct State;
    std::shared_ptr<State> m_state; ///< shared with the waiting thread
};

} // namespace qs
