// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/path_claim.h"
#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace qs {

/// A file that appears whole or not at all: write to `temporaryPath()`, then `commit()`. Without a
/// commit the destructor removes the temporary file; after a killed process, the next writer in
/// that folder removes it. The temporary file lies in the folder of the wanted one, under a name
/// that cannot be guessed and that did not exist. A link to a file stays a link: its target is
/// replaced. A pipe or a character device (`/dev/stdout`) is written to at the commit, never
/// replaced.
class AtomicFile
{
public:
    /// Errors (Io, naming the path): the folder cannot be written to; the path is a folder, a block
    /// device, a socket, a pipe without a reader or a dangling link.
    static Result<AtomicFile> create(const std::string& path);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    ~AtomicFile();

    const std::string& temporaryPath() const { return m_temporary; }
    /// Syncs the content to disk, then renames it (safe in power cuts). The error (Io) names the
    /// path and the system's cause.
    Result<void> commit();

private:
    AtomicFile() = default;
    Error error(const std::string& what) const;

    std::string m_path; ///< as it was asked for
    std::string m_target; ///< what is replaced: the path, or the file that it links to
    std::string m_temporary;
    PathClaim m_claim; ///< on the temporary file
    int m_stream = -1; ///< a pipe or device, open: written to instead of replaced
    bool m_done = false;
};

/// Writes `content` to `path` as an AtomicFile does. The error (Io) names the path and the system's
/// cause.
Result<void> writeFileAtomically(const std::string& path, std::string_view content);

/// Syncs a folder so that renames in it survive a power cut; best effort.
void syncFolder(const std::string& folder);

/// Makes the folder and its parents; an existing one is fine. The error (Io) names it and the
/// system's cause, also when it cannot be written to.
Result<void> ensureWritableFolder(const std::string& folder);

} // namespace qs
