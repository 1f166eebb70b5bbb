// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// Where what a child writes as errors goes: to `outputFile`, or where this program's go.
enum class ChildErrors
{
    InTheFile,
    Shown
};

/// Runs a program in a process group of its own until it ends; a cancel kills the group within
/// 100 ms. `each`, if given, is called some fifty times a second meanwhile. What it writes goes to
/// `outputFile`, its errors too unless they are shown. Returns its exit code, 128 and the signal
/// where one ended it. Errors: it cannot be started (Io, names the program), Cancelled.
Result<int> runChild(const std::vector<std::string>& command, const std::string& outputFile,
                     const JobContext& job, ChildErrors errors = ChildErrors::InTheFile,
                     const std::function<void()>& each = {});

} // namespace qs
