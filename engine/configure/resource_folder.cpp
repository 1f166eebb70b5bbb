// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/resource_folder.h"

#include "engine/base/process/system.h"

namespace qs {

namespace {

namespace fs = std::filesystem;

fs::path findFolder()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path installed = program.parent_path().parent_path() / "share" / "quantscope";
    return !error && fs::is_directory(installed / "backends", error) ? installed
                                                                     : QUANTSCOPE_RESOURCES;
}

} // namespace

std::filesystem::path resourceFolder()
{
    if (std::string given = environmentVariable("QUANTSCOPE_RESOURCES"); !given.empty())
        return given;
    static const fs::path found = findFolder();
    return found;
}

} // namespace qs
