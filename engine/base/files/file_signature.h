// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace qs {

/// Changes when a file, or a file below a folder, is replaced or written to: made of paths, sizes,
/// inodes and times of change. Reads no content, so it is cheap. "" for "sample"; the path alone if
/// the file does not exist.
std::string fileSignature(const std::string& path);

/// The regular files below a folder, in the order of their names; none if it cannot be read.
std::vector<std::filesystem::path> filesBelow(const std::filesystem::path& folder);

} // namespace qs
