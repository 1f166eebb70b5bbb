// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace qs {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::create(const std::string& purpose)
{
    std::error_code code;
    std::string name
        = (fs::temp_directory_path(code) / ("quantscope-" + purpose + "-XXXXXX")).string();
    if (code || !mkdtemp(name.data()))
        return fail(ErrorCode::Io, "no temporary folder can be made; set TMPDIR to one");
    return TemporaryFolder(std::move(name));
}

TemporaryFolder::TemporaryFolder(std::string path)
    : m_path(std::move(path))
{
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
{
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code code;
    if (!m_path.empty())
        fs::remove_all(m_path, code);
}

std::string TemporaryFolder::file(const std::string& name) const
{
    return (fs::path(m_path) / name).string();
}

} // namespace qs
