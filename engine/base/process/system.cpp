// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/system.h"

#include <cstdlib>
#include <system_error>

namespace qs {

std::string systemMessage(int code)
{
    return std::generic_category().message(code);
}

std::string environmentVariable(const char* name)
{
    const char* given = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return given ? given : "";
}

} // namespace qs
