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
/// the record's CRC-32. Thread safe. Keeps the file open, so a file replaced by rename stays
/// readable.
class Pt2Archive
{
public:
    /// Errors (BadInput): not an archive, a truncated or damaged directory.
    static Result<std::shared_ptr<Pt2Archive>> open(const std::string& path);
    ~Pt2Archive();

    const std::string& path() const { return m_path; }
    /// The one top folder of all records, which the writer names after the file; "" if they have
    /// none in common.
    const std::string& root() const { return m_root; }
    /// `name` is relative to the root.
    bool has(const std::string& name) const;
    /// Bytes of the record, from the directory; 0 when absent.
    std::uint64_t size(const std::string& name) const;
    /// All bytes of a record. Errors: absent, damaged (CRC), truncated.
    Result<std::string> read(const std::string& name) const;
    /// The same into memory of exactly `size(name)` bytes.
    Result<void> readInto(const std::string& name, void* target, std::uint64_t bytes) const;
    /// Reads every record once and compares its checksum. Errors: the first damaged record;
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
