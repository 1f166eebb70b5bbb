// SPDX-License-Identifier: Apache-2.0
#include "engine/export/file_sink.h"

#include "engine/base/process/system.h"

#include <cerrno>

namespace qs {

Result<FileSink> FileSink::open(const std::string& path)
{
    FileSink sink;
    sink.m_path = path;
    errno = 0;
    sink.m_file.open(path, std::ios::binary | std::ios::trunc);
    if (!sink.m_file)
        return fail(
            makeError(ErrorCode::Io, "cannot be written: " + systemMessage(errno)).inFile(path));
    return sink;
}

std::function<std::size_t(const void*, std::size_t)> FileSink::writer()
{
    return [this](const void* data, std::size_t size) {
        errno = 0;
        if (m_file && !m_file.write(static_cast<const char*>(data), std::streamsize(size)))
            m_cause = errno;
        return size;
    };
}

Result<void> FileSink::close()
{
    const bool good = bool(m_file);
    errno = 0;
    m_file.close();
    if (good && m_file)
        return {};
    const int cause = m_cause ? m_cause : errno;
    const std::string why = cause ? ": " + systemMessage(cause) : std::string();
    return fail(makeError(ErrorCode::Io, "could not be written whole" + why).inFile(m_path));
}

} // namespace qs
