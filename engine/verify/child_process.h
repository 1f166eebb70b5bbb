// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// Destination of a child's stderr: `outputFile`, or this program's stderr.
enum class ChildErrors
{
    InTheFile,
    Shown
};

/// Runs a program in a new process group until it ends; a cancel kills the group within 100 ms.
/// Calls `each`, if given, about fifty times a second meanwhile. Writes the program's stdout to
/// `outputFile`, and its stderr as `errors` says. Returns its exit code, or 128 plus the number of
/// the signal that ended it. Errors: it cannot be started (Io, names the program), Cancelled.
Result<int> runChild(const std::vector<std::string>& command, const std::string& outputFile,
                     const JobContext& job, ChildErrors errors = ChildErrors::InTheFile,
                     const std::function<void()>& each = {});

} // namespace qs
