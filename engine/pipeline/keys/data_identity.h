// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace qs {

/// What changes when a file, or a file below a folder, is replaced or written to: paths, sizes,
/// inodes and times of change. Reads no content, so it may be asked at any time. "" for "sample";
/// of what does not exist it is the path alone.
std::string fileSignature(const std::string& path);

/// Hashes of what data and backend files hold. Remembers what it read by `fileSignature`. Thread
/// safe.
class ContentHashes
{
public:
    /// Hex SHA-256 of a file; of a folder, of the names and contents of its files. Above 1 GiB a
    /// file is hashed by its `fileSignature` and its first and last 64 MiB, a folder by its
    /// `fileSignature` alone: whole it would take longer than a calibration. "sample" is
    /// `sampleOf`: the model's own hash. Errors: NotFound and Io, which
    /// name the file; Cancelled.
    Result<std::string> of(const std::string& path, const std::string& sampleOf,
                           const JobContext& job);
    /// The same where nothing need be read for it; else nothing.
    std::optional<std::string> known(const std::string& path, const std::string& sampleOf);

private:
    std::mutex m_mutex;
    std::map<std::string, std::string> m_bySignature;
};

} // namespace qs
