// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"

#include "engine/base/process/system.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// A file descriptor, closed by the destructor.
class Handle
{
public:
    Handle(const std::string& path, int flags, mode_t mode = 0)
        : m_handle(open(path.c_str(), flags | O_CLOEXEC, mode))
    {
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle()
    {
        if (m_handle >= 0)
            close(m_handle);
    }
    int get() const { return m_handle; }
    explicit operator bool() const { return m_handle >= 0; }

private:
    int m_handle;
};

std::string randomName()
{
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
    thread_local std::random_device device;
    std::uniform_int_distribution<std::size_t> any(0, kLetters.size() - 1);
    std::string name(kFileLetters, ' ');
    for (char& letter : name)
        letter = kLetters[any(device)];
    return std::string(kTemporaryBegin) + name + std::string(kTemporaryEnd);
}

std::string folderOf(const std::string& path)
{
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

/// True for names of devices and open files of a process.
bool isSystemPath(const std::string& path)
{
    return path.starts_with("/dev/") || path.starts_with("/proc/");
}

bool writeAll(int handle, const char* data, std::size_t size)
{
    while (size > 0) {
        const ssize_t written = write(handle, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        size -= std::size_t(written);
    }
    return true;
}

/// Opens a pipe without waiting for a reader; later writes block as usual. Returns a negative
/// number on failure.
int openStream(const std::string& path)
{
    const int handle = open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (handle >= 0)
        (void)fcntl(handle, F_SETFL, fcntl(handle, F_GETFL) & ~O_NONBLOCK);
    return handle;
}

} // namespace

Error AtomicFile::error(const std::string& what) const
{
    return makeError(ErrorCode::Io, what).inFile(m_path);
}

Result<AtomicFile> AtomicFile::create(const std::string& path)
{
    AtomicFile file;
    file.m_path = file.m_target = path;
    struct stat link = {}, about = {};
    const bool exists = lstat(path.c_str(), &link) == 0;
    const char* hint = "choose another file";
    if (exists && stat(path.c_str(), &about) != 0)
        return fail(file.error("is a dangling link; cannot write a file there")
                        .withHint("remove the link or choose another file"));
    if (exists && S_ISDIR(about.st_mode))
        return fail(file.error("is a folder, where a file is to be written").withHint(hint));
    if (exists && (S_ISBLK(about.st_mode) || S_ISSOCK(about.st_mode)))
        return fail(
            file.error("is a device or a socket, where a file is to be written").withHint(hint));
    const bool isStream = exists && (!S_ISREG(about.st_mode) || isSystemPath(path));
    std::error_code code;
    // Kept open until the end, because a pipe's reader sees the first close as end of file.
    if (isStream && (file.m_stream = openStream(path)) < 0)
        return fail(errno == ENXIO
                        ? file.error("is a pipe without a reader").withHint("start its reader")
                        : file.error("cannot be written: " + systemMessage(errno)));
    if (exists && !isStream && S_ISLNK(link.st_mode))
        file.m_target = fs::canonical(path, code).string();
    const std::string folder
        = isStream ? fs::temp_directory_path(code).string() : folderOf(file.m_target);
    const mode_t mode = exists && !isStream ? about.st_mode & 0777 : 0666;
    removeAbandonedOnce(folder);
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::string name = (fs::path(folder) / randomName()).string();
        const Handle made(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (!made && errno == EEXIST)
            continue;
        if (!made)
            break;
        file.m_claim = PathClaim(name);
        if (file.m_claim.isLost())
            continue;
        file.m_temporary = name;
        return file;
    }
    return fail(file.error("cannot be written: " + systemMessage(errno)));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_target(std::move(other.m_target))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_claim(std::move(other.m_claim))
    , m_stream(std::exchange(other.m_stream, -1))
    , m_done(other.m_done)
{
}

AtomicFile::~AtomicFile()
{
    std::error_code ignored;
    if (!m_done && !m_temporary.empty())
        fs::remove(m_temporary, ignored);
    if (m_stream >= 0)
        close(m_stream);
}

Result<void> AtomicFile::commit()
{
    const auto cannot
        = [this](const std::string& cause) { return fail(error("cannot be written: " + cause)); };
    if (m_stream >= 0) {
        std::ifstream in(m_temporary, std::ios::binary);
        std::array<char, 65536> part;
        while (in.read(part.data(), std::streamsize(part.size())), in.gcount() > 0)
            if (!writeAll(m_stream, part.data(), std::size_t(in.gcount())))
                return cannot(systemMessage(errno));
        return {};
    }
    const Handle written(m_temporary, O_RDONLY | O_NOFOLLOW);
    // Ignores files that cannot be synced (EINVAL: some network and memory file systems).
    if (!written || (fsync(written.get()) != 0 && errno != EINVAL && errno != EROFS))
        return cannot(systemMessage(errno));
    if (std::rename(m_temporary.c_str(), m_target.c_str()) != 0)
        return cannot(systemMessage(errno));
    m_done = true;
    syncFolder(folderOf(m_target));
    return {};
}

Result<void> writeFileAtomically(const std::string& path, std::string_view content)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    {
        errno = 0;
        std::ofstream stream(file.temporaryPath(), std::ios::binary | std::ios::trunc);
        stream.write(content.data(), std::streamsize(content.size()));
        if (!stream.flush()) {
            const std::string cause = errno ? systemMessage(errno) : "write failed";
            return fail(makeError(ErrorCode::Io, "cannot be written: " + cause).inFile(path));
        }
    }
    return file.commit();
}

void syncFolder(const std::string& folder)
{
    if (const Handle handle(folder, O_RDONLY | O_DIRECTORY); handle)
        (void)fsync(handle.get());
}

Result<void> ensureWritableFolder(const std::string& folder)
{
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed || !fs::is_directory(folder))
        return fail(makeError(ErrorCode::Io,
                              "the folder cannot be made: "
                                  + (failed ? failed.message() : "a file is in its place"))
                        .inFile(folder)
                        .withHint("choose another output folder"));
    // access() always succeeds for root, so test by writing.
    const auto refused = [&](const std::string& what) {
        return fail(
            makeError(ErrorCode::Io, what).inFile(folder).withHint("choose another output folder"));
    };
    const auto probe = AtomicFile::create((fs::path(folder) / ".quantscope-probe").string());
    if (!probe)
        return refused("the folder cannot be written to"
                       + probe.error().message.substr(probe.error().message.rfind(": ")));
    std::ofstream stream(probe->temporaryPath(), std::ios::binary);
    if (!(stream << "probe").flush())
        return refused("the folder cannot be written to: " + systemMessage(errno));
    return {};
}

} // namespace qs
