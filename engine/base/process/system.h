// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Returns the system's message for an error number (`errno`): "No such file or directory". Any
/// thread.
std::string systemMessage(int code);

/// Returns an environment variable; "" if not set. The environment must not change while threads
/// run.
std::string environmentVariable(const char* name);

/// Restarts the program with OMP_WAIT_POLICY=PASSIVE, unless the user set it; if that fails, the
/// program continues. OpenMP's threads otherwise spin while waiting, which triples run times on a
/// busy machine, and the policy must be set before the program is loaded. Call first in `main`.
void restartWithPassiveThreads(char** argv);

} // namespace qs
