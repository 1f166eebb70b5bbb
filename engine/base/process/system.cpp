// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/system.h"

#include <cstdlib>
#include <system_error>
#include <unistd.h>

namespace qs {

std::string systemMessage(int code)
{
    return std::generic_category().message(code);
}

std::string environmentVariable(const char* name)
{
    const char* given = std::getenv(name);
    return given ? given : "";
}

void restartWithPassiveThreads(char** argv)
{
    if (!environmentVariable("OMP_WAIT_POLICY").empty())
        return;
    setenv("OMP_WAIT_POLICY", "PASSIVE", 1); // NOLINT(concurrency-mt-unsafe): no thread runs yet
    execv("/proc/self/exe", argv);
}

} // namespace qs
