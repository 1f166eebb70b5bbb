// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <string>

namespace qs {

/// Runs the user's own metric: `command FILE` in a shell, where FILE holds a model's outputs as an
/// .npz; its first output must be one number, which may be nan or inf. A cancel of the job ends it
/// and its child processes. Errors: it fails, or prints something else; Cancelled.
Result<double> runUserMetric(const std::string& command, const std::string& file,
                             const JobContext& job);

/// The error of a metric that must be finite.
Error notFiniteMetric(const std::string& command);

/// What the command is: its words, with a hash of the content in place of each one that names a
/// file, a script say. Equal for a script that was moved, another for one that was changed.
/// Variables and patterns of the shell are not expanded. Errors: a file cannot be read; Cancelled.
Result<std::string> metricIdentity(const std::string& command, const JobContext& job);

} // namespace qs
