// SPDX-License-Identifier: Apache-2.0
#include "app/commands/result_folder.h"

#include "engine/base/atomic_file.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// The outermost of the folder and its parents that does not exist yet; empty when all do.
std::string firstMissing(fs::path folder)
{
    std::string missing;
    std::error_code code;
    folder = fs::absolute(folder, code).lexically_normal();
    if (!folder.has_filename())
        folder = folder.parent_path();
    while (!folder.empty() && !fs::exists(folder, code)) {
        missing = folder.string();
        folder = folder.parent_path();
    }
    return missing;
}

} // namespace

Result<ResultFolder> ResultFolder::create(const std::string& folder)
{
    ResultFolder result;
    result.m_made = firstMissing(folder);
    result.m_folder = folder;
    QS_CHECK(ensureWritableFolder(folder));
    std::string name = (fs::path(folder) / ".quantscope-XXXXXX").string();
    if (!mkdtemp(name.data()))
        return fail(makeError(ErrorCode::Io, "cannot make a folder inside it").inFile(folder));
    result.m_staging = name;
    return result;
}

ResultFolder::ResultFolder(ResultFolder&& other) noexcept
    : m_folder(std::move(other.m_folder))
    , m_staging(std::exchange(other.m_staging, {}))
    , m_made(std::exchange(other.m_made, {}))
{
}

ResultFolder::~ResultFolder()
{
    std::error_code code;
    if (!m_staging.empty())
        fs::remove_all(m_staging, code);
    // Folders made here hold nothing else; `remove` would refuse a folder that does.
    if (m_made.empty())
        return;
    for (fs::path path = fs::absolute(m_folder, code).lexically_normal();
         path.string().size() >= m_made.size(); path = path.parent_path())
        if (!path.has_filename() || fs::remove(path, code))
            continue;
        else
            break;
}

Result<std::vector<std::string>> ResultFolder::publish(const std::string& last)
{
    std::error_code code;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(m_staging, code))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return name != last; });
    std::vector<std::string> paths;
    for (const auto& name : names) {
        const fs::path target = fs::path(m_folder) / name;
        fs::rename(fs::path(m_staging) / name, target, code);
        if (code)
            return fail(makeError(ErrorCode::Io, "cannot put the file in place: " + code.message())
                            .inFile(target.string()));
        paths.push_back(target.string());
    }
    m_made.clear();
    return paths;
}

} // namespace qs
