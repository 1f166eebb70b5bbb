// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <functional>

namespace qs {

/// What a trial may use before it is ended.
struct TrialLimits
{
    std::int64_t bytes = 0; ///< of memory beyond what the process has
    int seconds = 0; ///< of processor time
};

/// Runs `body` in a copy of this process, of which nothing is left: what crashes there, never ends
/// or takes too much memory becomes an error (BadInput) that says so with `what` as its subject
/// ("its code"). The body's own errors are not looked at, unless it ran out of memory: what it
/// does is done again here. The body may start no thread, and says nothing to anybody; the log is
/// switched off. Where no copy can be made, or it waits for a lock that another thread held, there
/// is no error. Returns Cancelled soon after a cancel.
Result<void> tryApart(const std::function<Result<void>()>& body, const TrialLimits& limits,
                      const std::string& what, const JobContext& job);

} // namespace qs
