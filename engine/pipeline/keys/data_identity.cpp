// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/keys/data_identity.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/files/file_pattern.h"
#include "engine/base/files/file_signature.h"
#include "engine/base/key.h"

#include <filesystem>
#include <fstream>
#include <vector>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kWholeUpTo = std::uint64_t(1) << 30;
constexpr std::streamoff kPart = std::streamoff(64) << 20;

Result<std::string> hashOfEnds(const std::string& path, std::uint64_t size, const JobContext& job)
{
    std::ifstream in(path, std::ios::binary);
    KeyBuilder key("ends of a large file");
    key.add(fileSignature(path));
    std::string block(std::size_t(1) << 20, '\0');
    for (const std::streamoff begin : {std::streamoff(0), std::streamoff(size) - kPart}) {
        in.seekg(begin);
        for (std::streamoff at = 0; at < kPart; at += std::streamoff(block.size())) {
            QS_CHECK(job.check());
            in.read(block.data(), std::streamsize(block.size()));
            if (!in)
                return fail(makeError(ErrorCode::Io, "the file cannot be read").inFile(path));
            key.add(block);
        }
    }
    return key.key();
}

Result<std::string> hashOfFiles(const std::vector<std::string>& files, const fs::path& folder,
                                const std::string& signature, const JobContext& job)
{
    std::uint64_t all = 0;
    std::error_code code;
    for (const std::string& file : files)
        if (const auto size = fs::file_size(file, code); !code)
            all += size;
    if (all > kWholeUpTo)
        return KeyBuilder("large folder").add(signature).key();
    KeyBuilder key("folder");
    for (const std::string& file : files) {
        QS_TRY(const std::string content, fileSha256(file, job));
        key.add(fs::path(file).lexically_relative(folder).string()).add(content);
    }
    return key.key();
}

Result<std::string> hashOf(const std::string& path, const std::string& signature,
                           const JobContext& job)
{
    std::error_code code;
    if (fs::is_directory(path, code))
        return hashOfFiles(filesBelow(path), path, signature, job);
    if (isFilePattern(path))
        return hashOfFiles(namedFiles(path), fs::path(path).parent_path(), signature, job);
    const auto size = fs::file_size(path, code);
    if (!code && fs::is_regular_file(path, code) && size > kWholeUpTo)
        return hashOfEnds(path, size, job);
    return fileSha256(path, job);
}

} // namespace

std::optional<std::string> ContentHashes::known(const std::string& path,
                                                const std::string& sampleOf)
{
    if (path == "sample")
        return sampleOf;
    const std::lock_guard lock(m_mutex);
    const auto it = m_bySignature.find(fileSignature(path));
    return it == m_bySignature.end() ? std::nullopt : std::optional(it->second);
}

Result<std::string> ContentHashes::of(const std::string& path, const std::string& sampleOf,
                                      const JobContext& job)
{
    if (auto hash = known(path, sampleOf))
        return std::move(*hash);
    const std::string signature = fileSignature(path);
    auto hash = hashOf(path, signature, job);
    if (!hash)
        return hash;
    const std::lock_guard lock(m_mutex);
    return m_bySignature[signature] = std::move(*hash);
}

} // namespace qs
