// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <string>

namespace qs {

/// Runs the user's metric, `command FILE` in a shell, and returns the number that it prints; FILE
/// holds a model's outputs as .npz. The number may be nan or inf. Cancelling the job ends the
/// command and its child processes. Errors: the command fails, or prints something else; Cancelled.
Result<double> runUserMetric(const std::string& command, const std::string& file,
                             const JobContext& job);

/// Returns the error for a metric that is not finite but must be.
Error notFiniteMetric(const std::string& command);

/// Returns the identity of a command: its words, with each word that names a file (for example a
/// script) replaced by a hash of the content. Equal if a script was moved, different if it was
/// changed. Does not expand variables and patterns of the shell. Errors: a file cannot be read;
/// Cancelled.
Result<std::string> metricIdentity(const std::string& command, const JobContext& job);

} // namespace qs
