// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/result_folder.h"

#include "engine/base/atomic_file.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

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

constexpr std::string_view kStaging = ".quantscope-", kPattern = "XXXXXX";

/// A run that has just made its folder may not have locked it yet.
constexpr std::chrono::minutes kYoung {1};

/// The folder, locked for this process; -1 where another one holds it or locks are not known.
int lockFolder(const std::string& folder)
{
    const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0 || flock(handle, LOCK_EX | LOCK_NB) == 0)
        return handle;
    close(handle);
    return -1;
}

/// Removes the hidden folders of runs that could not: nobody holds their locks any more.
void removeAbandoned(const std::string& folder)
{
    std::error_code code;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        std::error_code unknown;
        if (name.starts_with(kStaging) && name.size() == kStaging.size() + kPattern.size()
            && entry->symlink_status(unknown).type() == fs::file_type::directory)
            found.push_back(entry->path());
    }
    for (const fs::path& path : found) {
        const auto changed = fs::last_write_time(path, code);
        if (code || fs::file_time_type::clock::now() - changed < kYoung)
            continue;
        const int lock = lockFolder(path.string());
        if (lock < 0)
            continue;
        fs::remove_all(path, code);
        close(lock);
    }
}

} // namespace

Result<ResultFolder> ResultFolder::create(const std::string& folder)
{
    ResultFolder result;
    result.m_made = firstMissing(folder);
    result.m_folder = folder;
    QS_CHECK(ensureWritableFolder(folder));
    removeAbandoned(folder);
    std::string name
        = (fs::path(folder) / (std::string(kStaging) + std::string(kPattern))).string();
    if (!mkdtemp(name.data()))
        return fail(makeError(ErrorCode::Io, "cannot make a folder inside it").inFile(folder));
    result.m_staging = name;
    result.m_lock = lockFolder(name);
    return result;
}

ResultFolder::ResultFolder(ResultFolder&& other) noexcept
    : m_folder(std::move(other.m_folder))
    , m_staging(std::exchange(other.m_staging, {}))
    , m_lock(std::exchange(other.m_lock, -1))
    , m_made(std::exchange(other.m_made, {}))
{
}

ResultFolder::~ResultFolder()
{
    std::error_code code;
    if (!m_staging.empty())
        fs::remove_all(m_staging, code);
    if (m_lock >= 0)
        close(m_lock);
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
