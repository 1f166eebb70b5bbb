// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The limits of a trial.
struct TrialLimits
{
    std::int64_t bytes = 0; ///< memory in addition to the process's
    int seconds = 0; ///< processor time
};

/// How a trial ended.
struct TrialEnd
{
    bool finished = false; ///< the body returned; else it ended the process or was killed
    bool idle = false; ///< it was idle for seconds and was killed
    bool noMemory = false;
    bool threw = false; ///< an uncatchable exception ended it; `error` is its message
    int signal = 0; ///< signal that ended it; 0 = none
    std::string error; ///< the body's error as one line; empty if none

    /// True if it crashed for a reason other than its limits.
    bool crashed() const;
};

/// Body of a trial: a function of the program or its libraries, called with words such as paths.
/// Its log is off and its output is discarded.
using TrialBody = Result<void> (*)(const std::vector<std::string>& words);

/// Forks the process that forks copies of itself for trials. It has one thread, so copies hold no
/// locks, and it ends with this process. Call first in `main`, while no other thread runs; further
/// calls have no effect. Without it, or if it fails, no trials run.
void startTrials();
/// Ends that process and waits for it; also done at exit.
void stopTrials();

/// Runs `body` in a copy and returns how it ended; nullopt if the fork fails, or inside a copy. One
/// trial runs at a time; paths are relative to the program's initial folder. Fails only with
/// Cancelled, soon after a cancel. Any thread.
Result<std::optional<TrialEnd>> runApart(TrialBody body, const std::vector<std::string>& words,
                                         const TrialLimits& limits, const JobContext& job);

/// Runs `body` in the process that forks the copies, so that later copies have what it loads. Only
/// for a body whose trial succeeded. Does not wait.
void prepareTrials(TrialBody body, const std::vector<std::string>& words);

/// Like `runApart`, but fails (BadInput) if the body crashes, does not end or uses too much memory;
/// `what` is the subject of the message ("its code"). Ignores the body's errors, except out of
/// memory: the caller runs it again. No error if the fork fails.
Result<void> tryApart(TrialBody body, const std::vector<std::string>& words,
                      const TrialLimits& limits, const std::string& what, const JobContext& job);

} // namespace qs
