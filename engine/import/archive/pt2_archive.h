// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

/// Read access to the records of a zip archive (.pt2, TorchScript, torch.save). Each read checks
/// the record's CRC-32. Thread safe. Keeps the file open, so it stays readable after a rename
/// replaces it.
class Pt2Archive
{
public:
    /// Fails (BadInput) if the file is not an archive or its directory is truncated or damaged.
    static Result<std::shared_ptr<Pt2Archive>> open(const std::string& path);
    ~Pt2Archive();

    const std::string& path() const { return m_path; }
    /// The common top folder of all records, which writers name after the file; "" if there is
    /// none.
    const std::string& root() const { return m_root; }
    /// `name` is relative to the root.
    bool has(const std::string& name) const;
    /// Bytes of the record according to the directory; 0 if absent.
    std::uint64_t size(const std::string& name) const;
    /// Returns all bytes of a record. Fails if it is absent, damaged (CRC) or truncated.
    Result<std::string> read(const std::string& name) const;
    /// Reads a record into memory of exactly `size(name)` bytes.
    Result<void> readInto(const std::string& name, void* target, std::uint64_t bytes) const;
    /// Reads every record once and checks its CRC. Fails with the first damaged record, or
    /// Cancelled.
    Result<void> verify(const JobContext& job) const;
    /// Names relative to the root, in file order.
    const std::vector<std::string>& names() const { return m_names; }

private:
    struct Zip;
    Pt2Archive();
    Result<std::uint64_t> findRecord(const std::string& name) const;

    std::string m_path;
    std::string m_root;
    std::vector<std::string> m_names;
    std::uint64_t m_fileSize = 0;
    std::unique_ptr<Zip> m_zip;
    mutable std::mutex m_mutex;
};

} // namespace qs
