// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/user_config.h"

#include <cstdlib>
#include <filesystem>

namespace qs {

std::string userConfigFile(const std::string& name)
{
    namespace fs = std::filesystem;
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config && fs::path(config).is_absolute())
        return (fs::path(config) / "quantscope" / name).string();
    return home && *home ? (fs::path(home) / ".config" / "quantscope" / name).string()
                         : std::string();
}

} // namespace qs
