// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace qs {

/// A file that appears whole or not at all: write to `temporaryPath()`, then `commit()`. Without a
/// commit the destructor removes what was written. The temporary name lies in the same folder, so
/// that the rename is atomic.
class AtomicFile
{
public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    const std::string& temporaryPath() const { return m_temporary; }
    /// Renames onto the wanted path. The error (Io) names it and the system's cause.
    Result<void> commit();

private:
    std::string m_path;
    std::string m_temporary;
    bool m_done = false;
};

/// Writes `content` to `path` by atomic rename. The error (Io) names the path and the system's
/// cause.
Result<void> writeFileAtomically(const std::string& path, std::string_view content);

/// Makes the folder and its parents; an existing one is fine. The error (Io) names it and the
/// system's cause, also when it cannot be written to.
Result<void> ensureWritableFolder(const std::string& folder);

} // namespace qs
