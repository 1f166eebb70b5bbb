// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>

namespace qs {

/// What a model file turns out to be by its first bytes.
enum class FileKind
{
    Zip, ///< .pt2, TorchScript and torch.save files are all zip archives
    Pickle, ///< a bare Python pickle
    Foreign
};

/// A look at a file: its kind, its size, and for a foreign one what it is ("a PNG image").
struct FileLook
{
    FileKind kind = FileKind::Foreign;
    std::uint64_t size = 0;
    std::string what;
};

/// Errors: no such file, a folder, unreadable, empty.
Result<FileLook> lookAtFile(const std::string& path);

/// The recipe that turns a module into a file this program opens; used as a hint.
std::string exportRecipe();

} // namespace qs
