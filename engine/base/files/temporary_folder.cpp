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
    if (!code)
        if (auto made = makeClaimedFolder((place / (std::string(kBegin) + purpose + '.')).string()))
            return TemporaryFolder(std::move(made->path), std::move(made->claim));
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
