// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/resource_folder.h"

#include <cstdlib>

namespace qs {

std::filesystem::path resourceFolder()
{
    const char* given = std::getenv("QUANTSCOPE_RESOURCES");
    return given && *given ? given : QUANTSCOPE_RESOURCES;
}

} // namespace qs
