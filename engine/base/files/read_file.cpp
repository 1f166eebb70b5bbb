// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/read_file.h"

#include "engine/base/process/system.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace qs {

Result<void> checkReadable(const std::string& path)
{
    struct stat about = {};
    const auto refused = [&](ErrorCode code, const std::string& what) {
        return fail(makeError(code, what).inFile(path));
    };
    if (stat(path.c_str(), &about) != 0)
        return errno == ENOENT || errno == ENOTDIR
            ? refused(ErrorCode::NotFound, "no such file")
            : refused(ErrorCode::Io, "cannot be read: " + systemMessage(errno));
    if (S_ISDIR(about.st_mode))
        return refused(ErrorCode::Io, "this is a folder");
    if (!S_ISREG(about.st_mode))
        return fail(makeError(ErrorCode::Io, "is a pipe, a device or a socket, which is not read")
                        .inFile(path)
                        .withHint("save its output to a file first"));
    const int handle = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (handle < 0)
        return refused(ErrorCode::Io, "cannot be read: " + systemMessage(errno));
    close(handle);
    return {};
}

Result<std::string> readWholeFile(const std::string& path, std::uint64_t most)
{
    QS_CHECK(checkReadable(path));
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const auto size = std::int64_t(in.tellg());
    if (in && std::uint64_t(size) > most)
        return fail(makeError(ErrorCode::BadInput,
                              "has " + std::to_string(size) + " bytes; more than "
                                  + std::to_string(most) + " are not read")
                        .inFile(path));
    std::string text(std::size_t(std::max<std::int64_t>(size, 0)), '\0');
    in.seekg(0);
    in.read(text.data(), std::streamsize(text.size()));
    if (!in && !text.empty())
        return fail(makeError(ErrorCode::Io, "cannot be read").inFile(path));
    return text;
}

Result<void> readInBlocks(const std::string& path, const JobContext& job,
                          const std::function<void(std::string_view)>& see)
{
    QS_CHECK(checkReadable(path));
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return fail(makeError(ErrorCode::Io, "cannot be read").inFile(path));
    std::string block(std::size_t(1) << 20, '\0');
    while (in) {
        QS_CHECK(job.check());
        in.read(block.data(), std::streamsize(block.size()));
        see(std::string_view(block.data(), std::size_t(in.gcount())));
    }
    if (in.bad())
        return fail(makeError(ErrorCode::Io, "cannot be read to its end").inFile(path));
    return {};
}

bool isDeepJson(std::string_view json)
{
    constexpr int kDeepest = 200;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\')
            ++i;
        else if (!quoted)
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        if (depth > kDeepest)
            return true;
    }
    return false;
}

} // namespace qs
