// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <string>
#include <vector>

namespace qs {

/// Runs a program in a process group of its own until it ends; a cancel kills the group within
/// 100 ms. What it writes goes to `outputFile`. Returns its exit code, 128 and the signal where one
/// ended it. Errors: it cannot be started (Io, names the program), Cancelled.
Result<int> runChild(const std::vector<std::string>& command, const std::string& outputFile,
                     const JobContext& job);

} // namespace qs
