// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/path_claim.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// On systems without locks, files unchanged for this time count as abandoned. Setting back the
/// clock only delays this.
constexpr std::chrono::hours kAbandoned {1};

int openAny(const std::string& path)
{
    // Network file systems allow exclusive locks only on files open for writing, which folders
    // never are.
    const int handle = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return handle >= 0
        ? handle
        : open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/// True if the path still refers to the open file of the handle.
bool leadsTo(const std::string& path, int handle)
{
    struct stat there = {}, held = {};
    return lstat(path.c_str(), &there) == 0 && fstat(handle, &held) == 0
        && there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

bool isRandom(std::string_view letters)
{
    return std::all_of(letters.begin(), letters.end(),
                       [](unsigned char c) { return std::isalnum(c); });
}

bool isTemporaryFile(std::string_view name)
{
    const std::size_t ends = kTemporaryBegin.size() + kTemporaryEnd.size();
    return name.size() == ends + kFileLetters && name.starts_with(kTemporaryBegin)
        && name.ends_with(kTemporaryEnd)
        && isRandom(name.substr(kTemporaryBegin.size(), kFileLetters));
}

bool isTemporaryFolder(std::string_view name, std::string_view begin)
{
    return name.size() >= begin.size() + kFolderLetters && name.starts_with(begin)
        && (begin != kTemporaryBegin || name.size() == begin.size() + kFolderLetters)
        && isRandom(name.substr(name.size() - kFolderLetters));
}

bool isOld(const struct stat& about)
{
    const auto changed = std::chrono::system_clock::from_time_t(about.st_mtime);
    return std::chrono::system_clock::now() - changed > kAbandoned;
}

/// Removes the path while holding its lock, so that a process that has just created it detects the
/// loss when claiming it.
void removeIfAbandoned(const fs::path& path)
{
    const int handle = openAny(path.string());
    if (handle < 0)
        return;
    struct stat about = {};
    const bool isMine = fstat(handle, &about) == 0 && about.st_uid == geteuid();
    const bool isLocked = isMine && flock(handle, LOCK_EX | LOCK_NB) == 0;
    const bool isKnown = isLocked || errno == EWOULDBLOCK;
    if (isMine && (isLocked || (!isKnown && isOld(about))) && leadsTo(path.string(), handle)) {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    close(handle);
}

} // namespace

PathClaim::PathClaim(const std::string& path)
    : m_handle(openAny(path))
{
    if (m_handle < 0) {
        m_isLost = errno == ENOENT;
        return;
    }
    while (flock(m_handle, LOCK_EX) != 0 && errno == EINTR) { }
    m_isLost = !leadsTo(path, m_handle);
}

PathClaim::PathClaim(PathClaim&& other) noexcept
    : m_handle(std::exchange(other.m_handle, -1))
    , m_isLost(other.m_isLost)
{
}

PathClaim& PathClaim::operator=(PathClaim&& other) noexcept
{
    std::swap(m_handle, other.m_handle);
    std::swap(m_isLost, other.m_isLost);
    return *this;
}

PathClaim::~PathClaim()
{
    if (m_handle >= 0)
        close(m_handle);
}

std::optional<ClaimedFolder> makeClaimedFolder(const std::string& begin)
{
    for (int attempt = 0; attempt < 8; ++attempt) { // another process may consider it abandoned
        std::string path = begin + std::string(kFolderLetters, 'X');
        if (!mkdtemp(path.data()))
            break;
        PathClaim claim(path);
        if (!claim.isLost())
            return ClaimedFolder {std::move(path), std::move(claim)};
    }
    return std::nullopt;
}

void removeAbandoned(const std::string& folder, std::string_view begin)
{
    std::error_code code;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        std::error_code unknown;
        const auto type = entry->symlink_status(unknown).type();
        if ((type == fs::file_type::regular && isTemporaryFile(name))
            || (type == fs::file_type::directory && isTemporaryFolder(name, begin)))
            found.push_back(entry->path());
    }
    for (const fs::path& path : found)
        removeIfAbandoned(path);
}

void removeAbandonedOnce(const std::string& folder)
{
    static std::mutex mutex;
    static std::set<std::string> done;
    {
        std::lock_guard lock(mutex);
        if (!done.insert(folder).second)
            return;
    }
    removeAbandoned(folder);
}

} // namespace qs
