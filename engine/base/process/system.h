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

/// Name of this machine; "unknown host" without one.
std::string hostName();

/// Restarts the program with OMP_WAIT_POLICY=PASSIVE, unless the user set it; if that fails, the
/// program continues. OpenMP's threads otherwise spin while waiting, which triples run times on a
/// busy machine, and the policy must be set before the program is loaded. Call it from
/// `.preinit_array`: the constructors of the libraries, which come next, take 0.1 s.
void restartWithPassiveThreads(char** argv, char** environment);

/// Prepares the process: a write beyond the file size limit returns an error, crashes print a line,
/// freed memory is kept, trials run. Call first in `main`.
void beginProcess();

/// Ends the process at the end of `main`, after writing what stdio still holds. Skips the
/// destructors of static objects: LibTorch's take 60 ms.
[[noreturn]] void endProcess(int code);

} // namespace qs
