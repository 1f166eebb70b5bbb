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

/// Reads parts of a zip archive's entries by position, so that an archive larger than memory can be
/// used. Going back is a seek in a stored entry and starts a deflated one again, which is kept
/// inflated in a temporary file, as far as it was read, when that happens too often (a pass over
/// all of it does not count). An entry that was read in order from its start is held to its
/// checksum when the end is reached. Thread safe.
class ZipReader
{
public:
    struct Entry
    {
        std::string name;
        std::uint64_t size = 0; ///< uncompressed bytes
        bool isStored = false; ///< not deflated
    };

    /// Errors: NotFound; BadInput for a file that is not a zip archive or has a damaged directory.
    static Result<std::shared_ptr<ZipReader>> open(const std::string& path);
    ~ZipReader();

    const std::string& path() const { return m_path; }
    /// In the file's order.
    const std::vector<Entry>& entries() const { return m_entries; }
    /// `bytes` bytes of an entry, from `offset`. The error (BadInput) says "is truncated or
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
