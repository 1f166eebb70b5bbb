// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/system.h"

#include "engine/base/memory/freed_memory.h"
#include "engine/base/process/crash_line.h"
#include "engine/base/process/try_apart.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

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

std::string hostName()
{
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

void restartWithPassiveThreads(char** argv, char** environment)
{
    static char passive[] = "OMP_WAIT_POLICY=PASSIVE";
    const std::string_view name(passive, sizeof("OMP_WAIT_POLICY=") - 1);
    std::vector<char*> changed {passive}; // the C library does not know the environment yet
    for (; *environment; ++environment) {
        const std::string_view given(*environment);
        if (!given.starts_with(name))
            changed.push_back(*environment);
        else if (given.size() > name.size())
            return;
    }
    changed.push_back(nullptr);
    execve("/proc/self/exe", argv, changed.data());
}

void beginProcess()
{
    std::signal(SIGXFSZ, SIG_IGN);
    tellCrashes();
    keepFreedMemory();
    // libzip converts the time of every record; if this is unset, each time reads the zone's file.
    setenv("TZ", ":/etc/localtime", 0); // NOLINT(concurrency-mt-unsafe): no thread runs yet
    startTrials();
}

void endProcess(int code)
{
    std::fflush(nullptr);
    stopTrials();
    _exit(code);
}

} // namespace qs
