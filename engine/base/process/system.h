// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// What the system says of an error number (`errno`): "No such file or directory". Any thread.
std::string systemMessage(int code);

/// A variable of the process's environment, which nobody changes once threads run; "" where it is
/// not set.
std::string environmentVariable(const char* name);

} // namespace qs
