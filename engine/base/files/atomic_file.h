// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/path_claim.h"
#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace qs {

/// Writes a file atomically: write to `temporaryPath()`, then `commit()`. Without a commit the
/// destructor removes the temporary file; after a killed process, the next writer in that folder
/// removes it. The temporary file is in the target's folder, with a new, unpredictable name. If the
/// path is a symbolic link, its target is replaced. A pipe or a character device (`/dev/stdout`) is
/// written to on commit, never replaced.
class AtomicFile
{
public:
    /// Fails (Io, names the path) if the folder is not writable, or the path is a folder, a block
    /// device, a socket, a pipe without a reader or a dangling link.
    static Result<AtomicFile> create(const std::string& path);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    ~AtomicFile();

    const std::string& temporaryPath() const { return m_temporary; }
    /// Syncs the content to disk, then renames the file (safe against power failure). The error
    /// (Io) names the path and the system's cause.
    Result<void> commit();

private:
    AtomicFile() = default;
    Error error(const std::string& what) const;

    std::string m_path; ///< as requested
    std::string m_target; ///< the file to replace: the path, or its link target
    std::string m_temporary;
    PathClaim m_claim; ///< claim on the temporary file
    int m_stream = -1; ///< an open pipe or device, written to instead of replaced
    bool m_done = false;
};

/// Writes `content` to `path` atomically (see AtomicFile). The error (Io) names the path and the
/// system's cause.
Result<void> writeFileAtomically(const std::string& path, std::string_view content);

/// Syncs a folder so that renames in it survive a power cut; best effort.
void syncFolder(const std::string& folder);

/// Creates the folder and its parents if missing. Fails (Io, names it and the system's cause) also
/// if the folder is not writable.
Result<void> ensureWritableFolder(const std::string& folder);

} // namespace qs
