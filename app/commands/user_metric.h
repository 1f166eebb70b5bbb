// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <string>

namespace qs {

/// Runs the user's own metric: `command FILE` in a shell, where FILE holds a model's outputs as an
/// .npz; its first output must be one number. A cancel of the job ends it and its child processes.
/// Errors: it fails, or prints something else; Cancelled.
Result<double> runUserMetric(const std::string& command, const std::string& file,
                             const JobContext& job);

} // namespace qs
