// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <string>

namespace qs {

/// Runs the user's own metric: `command FILE` in a shell, where FILE holds a model's outputs as an
/// .npz; what it prints first must be one number. It and what it started are ended when the job is
/// cancelled. Errors: it fails, or prints something else; Cancelled.
Result<double> runUserMetric(const std::string& command, const std::string& file,
                             const JobContext& job);

} // namespace qs
