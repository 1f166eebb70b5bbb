// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <functional>
#include <string>

namespace qs {

/// The user's metric for a model's outputs, given as the path of an .npz; higher is better. The
/// value may be nan or inf.
using UserMetric = std::function<Result<double>(const std::string& outputs, const JobContext& job)>;

/// The metric that runs `command FILE` in a shell and returns the number that it prints. Cancelling
/// the job ends the command and its child processes. Errors: the command fails, or prints something
/// else; Cancelled.
UserMetric commandMetric(const std::string& command);

/// Returns the identity of a command: its words, with each word that names a file (for example a
/// script) replaced by a hash of the content. Equal if a script was moved, different if it was
/// changed. Does not expand variables and patterns of the shell. Errors: a file cannot be read;
/// Cancelled.
Result<std::string> metricIdentity(const std::string& command, const JobContext& job);

} // namespace qs
