// SPDX-License-Identifier: Apache-2.0
#include "engine/base/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace qs {

namespace fs = std::filesystem;

AtomicFile::AtomicFile(std::string path)
    : m_path(std::move(path))
    , m_temporary(m_path + ".tmp" + std::to_string(getpid()))
{
}

AtomicFile::~AtomicFile()
{
    std::error_code ignored;
    if (!m_done)
        fs::remove(m_temporary, ignored);
}

Result<void> AtomicFile::commit()
{
    std::error_code failed;
    fs::rename(m_temporary, m_path, failed);
    if (failed)
        return fail(
            makeError(ErrorCode::Io, "cannot be written: " + failed.message()).inFile(m_path));
    m_done = true;
    return {};
}

Result<void> writeFileAtomically(const std::string& path, std::string_view content)
{
    AtomicFile file(path);
    {
        errno = 0;
        std::ofstream stream(file.temporaryPath(), std::ios::binary | std::ios::trunc);
        stream.write(content.data(), std::streamsize(content.size()));
        if (!stream.flush()) {
            const std::string cause = errno ? std::strerror(errno) : "write failed";
            return fail(makeError(ErrorCode::Io, "cannot be written: " + cause).inFile(path));
        }
    }
    return file.commit();
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
    // access() says yes to root everywhere; only a real write tells.
    const AtomicFile probe(folder + "/.quantscope-probe");
    std::ofstream stream(probe.temporaryPath(), std::ios::binary);
    if (!(stream << "probe").flush())
        return fail(
            makeError(ErrorCode::Io,
                      std::string("the folder cannot be written to: ") + std::strerror(errno))
                .inFile(folder)
                .withHint("choose another output folder"));
    return {};
}

} // namespace qs
