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
    std::int64_t bytes = 0; ///< of memory beyond what the process has
    int seconds = 0; ///< of processor time
};

/// How a trial ended.
struct TrialEnd
{
    bool finished = false; ///< the body returned; else it ended the process or was ended
    bool idle = false; ///< it waited for seconds without working, and was ended
    bool noMemory = false;
    bool threw = false; ///< an uncatchable exception ended it: `error` is its message
    int signal = 0; ///< that ended it; 0 = none
    std::string error; ///< the body's own, as one line; empty where it had none

    /// True if it crashed for another reason than its limits.
    bool crashed() const;
};

/// What a trial runs: a function of the program or its libraries, given some words, such as paths.
/// Its log is off, and what it prints goes nowhere.
using TrialBody = Result<void> (*)(const std::vector<std::string>& words);

/// Forks the process that makes copies of itself for trials. It has one thread, so a copy finds no
/// lock held, and it ends with this process. Call it first in `main`, while no other thread runs;
/// harmless when called again. Without it, or if it fails, nothing is tried.
void startTrials();
/// Ends that process and waits until it is gone, as the end of this process does too.
void stopTrials();

/// Runs `body` in a copy and reports how that ended. Nothing if no copy can be made, or in a copy.
/// One trial runs at a time; relative paths are those of the program's start. The error is
/// Cancelled, soon after a cancel. Any thread.
Result<std::optional<TrialEnd>> runApart(TrialBody body, const std::vector<std::string>& words,
                                         const TrialLimits& limits, const JobContext& job);

/// Runs `body` in the process that makes the copies: later copies have what it loads. Only for a
/// body whose trial went well. Does not wait.
void prepareTrials(TrialBody body, const std::vector<std::string>& words);

/// Like `runApart`, and fails (BadInput) if the body crashes, does not end or takes too much
/// memory; `what` is the subject of the message ("its code"). The body's own errors are ignored,
/// except running out of memory: the caller runs it again. No error if no copy can be made.
Result<void> tryApart(TrialBody body, const std::vector<std::string>& words,
                      const TrialLimits& limits, const std::string& what, const JobContext& job);

} // namespace qs
