// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <chrono>
#include <memory>
#include <stop_token>

namespace qs {

/// Turns Ctrl-C, and the end of the time that a run may take, into a cancel of the running job. A
/// second Ctrl-C ends the program; so does a job that has not stopped some seconds after its time
/// was over. One for the program; make it before other threads exist.
class JobWatch
{
public:
    /// `time`: 0 = no end.
    JobWatch(std::stop_source stop, std::chrono::milliseconds time);

    /// Records the job's progress and shows it.
    void progress(const Progress& progress) const;

    /// The error; a cancel by the clock names itself and its place, another does not.
    Error told(Error error) const;

private:
    struct State;
    std::shared_ptr<State> m_state; ///< shared with the thread that waits
};

} // namespace qs
