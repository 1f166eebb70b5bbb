// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// Returns a text that changes when a file, or a file below a folder, is replaced or written:
/// paths, sizes, inodes and change times; of several files (a folder, `namedFiles`) their hash.
/// Cheap, since it reads no content. "" for "sample"; only the path if the file does not exist.
std::string fileSignature(const std::string& path);

/// Returns the regular files below a folder, sorted by name; empty if it cannot be read.
std::vector<std::string> filesBelow(const std::string& folder);

} // namespace qs
