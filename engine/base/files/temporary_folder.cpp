// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

namespace qs {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::create(const std::string& purpose)
{
    constexpr std::string_view kBegin = "quantscope.";
    std::error_code code;
    const fs::path place = fs::temp_directory_path(code);
    removeAbandoned(place.string(), kBegin);
    for (int attempt = 0; !code && attempt < 8; ++attempt) {
        std::string name = std::string(kBegin) + purpose + '.' + std::string(kFolderLetters, 'X');
        name = (place / name).string();
        if (!mkdtemp(name.data()))
            break;
        PathClaim claim(name);
        if (!claim.isLost())
            return TemporaryFolder(std::move(name), std::move(claim));
    }
    return fail(ErrorCode::Io, "no temporary folder can be made; set TMPDIR to one");
}

TemporaryFolder::TemporaryFolder(std::string path, PathClaim claim)
    : m_path(std::move(path))
    , m_claim(std::move(claim))
{
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
    , m_claim(std::move(other.m_claim))
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
