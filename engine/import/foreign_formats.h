// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// A format that this program does not open.
struct ForeignFormat
{
    std::string_view what; ///< "an ONNX model"
    std::string_view way; ///< how to convert it to a supported file; "" = `exportRecipe`
    bool isWrapping = false; ///< a container of the wanted file: `way` says how to extract it
};

/// Returns the format of another program's file, by its first bytes (`head`, up to 512) and its
/// size, else by its file name extension.
std::optional<ForeignFormat> foreignFormat(std::string_view head, std::uint64_t size,
                                           const std::string& path);

/// Returns the format of another program's folder, by its name and content.
std::optional<ForeignFormat> foreignFolder(const std::string& path);

} // namespace qs
