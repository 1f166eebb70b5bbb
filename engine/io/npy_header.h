// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The header of an array in a .npy file (format 1.0 to 3.0).
struct NpyHeader
{
    DType dtype = DType::Unknown;
    bool fortranOrder = false;
    std::vector<std::int64_t> shape;
};

/// Returns the offset of the data in the file, or 0 if `start` (at least ten bytes) is not the
/// start of a .npy file.
std::size_t npyDataOffset(std::string_view start);

/// Parses the header's dictionary. Fails (BadInput) for object arrays, big-endian or non-numeric
/// types, or a malformed dictionary.
Result<NpyHeader> parseNpyHeader(std::string_view dictionary);

/// Returns magic, version and padded dictionary.
std::string npyHeaderText(DType dtype, const std::vector<std::int64_t>& shape);

} // namespace qs
