// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// A temporary file or folder that this process uses, claimed by a lock. The system releases the
/// lock when the process ends in any way. On systems without locks it claims nothing.
class PathClaim
{
public:
    PathClaim() = default;
    /// Claims a path that this process has just made. Check `isLost` afterwards: another process
    /// may have removed it as abandoned before it was claimed.
    explicit PathClaim(const std::string& path);
    PathClaim(PathClaim&& other) noexcept;
    PathClaim& operator=(PathClaim&& other) noexcept;
    ~PathClaim();

    /// True if the path does not (or no longer) lead to the claimed file.
    bool isLost() const { return m_isLost; }

private:
    int m_handle = -1;
    bool m_isLost = false;
};

/// A folder that this process has made and claimed.
struct ClaimedFolder
{
    std::string path;
    PathClaim claim;
};
/// Makes a folder named `begin` and six random letters; nothing if that fails.
std::optional<ClaimedFolder> makeClaimedFolder(const std::string& begin);

/// Beginning of the hidden names of temporary files and folders beside what they become, and the
/// end of such a file's name. Random letters and digits stand between, or follow.
inline constexpr std::string_view kTemporaryBegin = ".quantscope-", kTemporaryEnd = ".tmp";
/// Letters and digits in the name of such a file, and of such a folder.
inline constexpr std::size_t kFileLetters = 16, kFolderLetters = 6;

/// Removes the hidden files and folders that killed processes of this user left in `folder`: no
/// process claims them or, without locks, they have not changed for an hour. `begin`: prefix of the
/// folders' names, where these are not hidden.
void removeAbandoned(const std::string& folder, std::string_view begin = kTemporaryBegin);

/// The same, once for each folder that this process asks it for.
void removeAbandonedOnce(const std::string& folder);

} // namespace qs
