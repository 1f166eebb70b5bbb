// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace qs {

/// Content hashes of data and backend files. Caches them by `fileSignature`. Thread
/// safe.
class ContentHashes
{
public:
    /// Hex SHA-256 of a file; of a folder, or of a path that names several files (`namedFiles`), of
    /// the names and contents of the files. Above 1 GiB a file is hashed by its `fileSignature` and
    /// its first and last 64 MiB, several files by their `fileSignature` alone: hashing all of them
    /// would take longer than a calibration. For "sample" returns `sampleOf`, the model's own hash.
    /// Errors: NotFound and Io, which name the file; Cancelled.
    Result<std::string> of(const std::string& path, const std::string& sampleOf,
                           const JobContext& job);
    /// The hash that `of` returns if it is cached; else empty. Reads no file content.
    std::optional<std::string> known(const std::string& path, const std::string& sampleOf);

private:
    std::mutex m_mutex;
    std::map<std::string, std::string> m_bySignature;
};

} // namespace qs
