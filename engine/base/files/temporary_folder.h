// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/path_claim.h"
#include "engine/base/result.h"

#include <string>

namespace qs {

/// A new folder that the destructor removes with its content. After a killed process, the next
/// process that creates such a folder removes it.
class TemporaryFolder
{
public:
    /// `purpose` is part of its name. Fails (Io) if it cannot be created.
    static Result<TemporaryFolder> create(const std::string& purpose);
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return m_path; }
    /// Returns the path of a file in it.
    std::string file(const std::string& name) const;

private:
    TemporaryFolder(std::string path, PathClaim claim);

    std::string m_path;
    PathClaim m_claim;
};

} // namespace qs
