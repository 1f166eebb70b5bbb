// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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
    bool finished = false; ///< `body` returned; else it ended the process or was ended
    bool idle = false; ///< it waited for a lock, several copies did, and was ended
    bool noMemory = false;
    bool threw = false; ///< an uncatchable exception ended it: `error` is its message
    int signal = 0; ///< that ended it; 0 = none
    std::string error; ///< the body's own, as one line; empty where it had none

    /// True if it crashed for another reason than its limits.
    bool crashed() const;
};

/// Runs `body` in a forked copy of this process and reports how that ended. The body must not start
/// threads; its log is switched off. Nothing if no copy can be made. The error is Cancelled, soon
/// after a cancel.
Result<std::optional<TrialEnd>> runApart(const std::function<Result<void>()>& body,
                                         const TrialLimits& limits, const JobContext& job);

/// Runs `body` likewise. Fails (BadInput) if it crashes, does not end or takes too much
/// memory; `what` is the subject of the message ("its code"). The body's own errors are
/// ignored, except running out of memory: the caller runs it again. Not an error: no copy can
/// be made, or it waits for a lock that another thread held. Returns Cancelled soon after a
/// cancel.
Result<void> tryApart(const std::function<Result<void>()>& body, const TrialLimits& limits,
                      const std::string& what, const JobContext& job);

} // namespace qs
