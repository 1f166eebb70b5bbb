// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/user_config.h"

#include "engine/base/process/system.h"

#include <filesystem>

namespace qs {

std::string userConfigFile(const std::string& name)
{
    namespace fs = std::filesystem;
    const fs::path config = environmentVariable("XDG_CONFIG_HOME");
    const fs::path home = environmentVariable("HOME");
    if (config.is_absolute())
        return (config / "quantscope" / name).string();
    return home.empty() ? std::string() : (home / ".config" / "quantscope" / name).string();
}

} // namespace qs
