// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

/// Random access to the entries of a zip archive, which may be larger than memory. A backward seek
/// is cheap in a stored entry, but restarts a deflated one. If that happens too often (complete
/// passes do not count), the part read so far is kept inflated in a temporary file. The checksum of
/// an entry is verified if it is read sequentially from start to end. Thread safe.
class ZipReader
{
public:
    struct Entry
    {
        std::string name;
        std::uint64_t size = 0; ///< uncompressed bytes
        bool isStored = false; ///< not deflated
    };

    /// Fails with NotFound, or BadInput if the file is not a zip archive or has a damaged
    /// directory.
    static Result<std::shared_ptr<ZipReader>> open(const std::string& path);
    ~ZipReader();

    const std::string& path() const { return m_path; }
    /// The entries in the file's order.
    const std::vector<Entry>& entries() const { return m_entries; }
    /// Reads `bytes` bytes of an entry from `offset`. The error (BadInput) is "is truncated or
    /// corrupt", without file and entry.
    Result<void> read(std::size_t entry, std::uint64_t offset, std::uint64_t bytes,
                      void* target) const;

private:
    struct Streams;
    ZipReader();

    std::string m_path;
    std::vector<Entry> m_entries;
    std::unique_ptr<Streams> m_streams;
    mutable std::mutex m_mutex;
};

} // namespace qs
