// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// A format that is not this program's.
struct ForeignFormat
{
    std::string_view what; ///< "an ONNX model"
    std::string_view way; ///< from there to what this program opens; "" = `exportRecipe`
    bool isWrapping = false; ///< contains the wanted file: `way` leads to it
};

/// The format of another program's file, by its first bytes (`head`, up to 512) and its size, else
/// by the ending of its name.
std::optional<ForeignFormat> foreignFormat(std::string_view head, std::uint64_t size,
                                           const std::string& path);

/// The format of another program's folder, by its name and its content.
std::optional<ForeignFormat> foreignFolder(const std::string& path);

} // namespace qs
