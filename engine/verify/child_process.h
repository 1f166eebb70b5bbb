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
/// `each`, if given, is called some fifty times a second meanwhile. Its output goes to
/// `outputFile`, its errors too unless they are shown. Returns its exit code, or 128 plus the
/// signal that ended it. Errors: it cannot be started (Io, names the program), Cancelled.
Result<int> runChild(const std::vector<std::string>& command, const std::string& outputFile,
                     const JobContext& job, ChildErrors errors = ChildErrors::InTheFile,
                     const std::function<void()>& each = {});

} // namespace qs
