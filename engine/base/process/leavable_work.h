// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <functional>

namespace qs {

/// Runs `work`, which cannot be interrupted, on a new thread and returns its result. Soon after a
/// cancel, returns Cancelled and abandons the thread, so `work` must own everything it uses. The
/// process exits without waiting for abandoned threads.
Result<void> runLeavable(std::function<Result<void>()> work, const JobContext& job);

} // namespace qs
