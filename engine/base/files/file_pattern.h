// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// Number of files that one path may name.
inline constexpr std::size_t kMostNamedFiles = 100000;

/// True if a path with braces or stars names several files. A path that exists names itself.
bool isFilePattern(const std::string& path);

/// Returns the files that a path names: "a-{0000..0012}.tar" (leading zeros are kept), "{a,b}.tar",
/// and, in the file's name, "a-*.tar" (files that exist, without hidden ones, in natural order).
/// Without braces and stars, and if the path exists or names more than `kMostNamedFiles`, returns
/// the path. The files of braces need not exist. Texts in braces hold no "/" and make no "..".
std::vector<std::string> namedFiles(const std::string& path);

/// True if `a` precedes `b` in natural order, which compares digit sequences as numbers.
bool naturallyBefore(const std::string& a, const std::string& b);

} // namespace qs
