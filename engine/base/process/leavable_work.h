// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <functional>

namespace qs {

/// Runs `work` on a new thread and returns its result. For what cannot be stopped inside: soon
/// after a cancel it returns Cancelled and leaves the thread to its end, so `work` must own all
/// that it uses. The process ends without waiting for a thread that was left.
Result<void> runLeavable(std::function<Result<void>()> work, const JobContext& job);

} // namespace qs
