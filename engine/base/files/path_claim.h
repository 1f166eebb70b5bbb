// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Claims a temporary file or folder of this process by a lock, which the system releases however
/// the process ends. Has no effect on systems without locks.
class PathClaim
{
public:
    PathClaim() = default;
    /// Claims a path that this process has just created. Check `isLost` afterwards: another process
    /// may have removed it as abandoned before the claim.
    explicit PathClaim(const std::string& path);
    PathClaim(PathClaim&& other) noexcept;
    PathClaim& operator=(PathClaim&& other) noexcept;
    ~PathClaim();

    /// True if the path does not, or no longer, refer to the claimed file.
    bool isLost() const { return m_isLost; }

private:
    int m_handle = -1;
    bool m_isLost = false;
};

/// A folder that this process has created and claimed.
struct ClaimedFolder
{
    std::string path;
    PathClaim claim;
};
/// Creates a folder named `begin` plus six random letters; nullopt on failure.
std::optional<ClaimedFolder> makeClaimedFolder(const std::string& begin);

/// Prefix of the hidden names of temporary files and folders next to their targets, and suffix of
/// such files. Random letters and digits are between them, or after the prefix.
inline constexpr std::string_view kTemporaryBegin = ".quantscope-", kTemporaryEnd = ".tmp";
/// Number of random characters in the name of such a file and of such a folder.
inline constexpr std::size_t kFileLetters = 16, kFolderLetters = 6;

/// Removes hidden files and folders left in `folder` by killed processes of this user: those that
/// no process claims or, without locks, that have not changed for an hour. `begin`: prefix of the
/// folders' names, if these are not hidden.
void removeAbandoned(const std::string& folder, std::string_view begin = kTemporaryBegin);

/// The same, but only once per folder in this process.
void removeAbandonedOnce(const std::string& folder);

} // namespace qs
