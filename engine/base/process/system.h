// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// The system's message for an error number (`errno`): "No such file or directory". Any thread.
std::string systemMessage(int code);

/// A variable of the process's environment, which must not change once threads run; "" if it is not
/// set.
std::string environmentVariable(const char* name);

/// OpenMP's threads spin while they wait unless configured before the program is loaded, which
/// triples the times on a busy machine. Starts the program once more with OMP_WAIT_POLICY=PASSIVE,
/// unless the user set it; where that fails the program runs on as it is. First thing in `main`.
void restartWithPassiveThreads(char** argv);

} // namespace qs
