// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace qs {

/// Kind of a model file by its first bytes.
enum class FileKind
{
    Zip, ///< .pt2, TorchScript and torch.save files are all zip archives
    Pickle, ///< a bare Python pickle
    Foreign
};

/// Result of sniffing a file: kind, size and, for a foreign file, its format ("a PNG image").
struct FileSniff
{
    FileKind kind = FileKind::Foreign;
    std::uint64_t size = 0;
    std::string what;
    std::string way; ///< from there to what this program opens; "" = none but `exportRecipe`
    bool isWrapping = false; ///< `ForeignFormat::isWrapping`
    bool isNamed = false; ///< `what` names a format, not that it is unknown or a text
};

/// Judged by content; by name only if the content is ambiguous. Errors: no such file, a folder
/// (one that holds a model of another program is named), unreadable, empty.
Result<FileSniff> sniffFile(const std::string& path);

/// The recipe that turns a module into a file this program opens; used as a hint.
std::string exportRecipe();

/// The content of a pickle of torch.save (weights alone, a module, a checkpoint) and what to do
/// about it. `what` completes "PATH: ...".
FileSniff sniffPickle(std::string_view pickle, const std::string& path);

} // namespace qs
