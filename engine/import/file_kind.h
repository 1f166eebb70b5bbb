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
    std::string way; ///< how to convert it to a supported file; "" = only `exportRecipe`
    bool isWrapping = false; ///< `ForeignFormat::isWrapping`
    bool isNamed = false; ///< `what` names a format rather than "unknown" or "text"
};

/// Determines the kind by content; by name only if the content is ambiguous. Fails if the file does
/// not exist, is a folder (the error names another program's model folder), is unreadable or empty.
Result<FileSniff> sniffFile(const std::string& path);

/// Returns the torch.export recipe that converts a module to a supported file; used as a hint.
std::string exportRecipe();

/// Describes the content of a torch.save pickle (only weights, a module, a checkpoint) and what to
/// do. `what` completes "PATH: ...".
FileSniff sniffPickle(std::string_view pickle, const std::string& path);

} // namespace qs
