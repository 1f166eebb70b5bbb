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

/// Bytes from the start of the file to the data, or 0 if `start` (ten bytes or more) does not begin
/// a .npy file.
std::size_t npyDataOffset(std::string_view start);

/// Parses the header's dictionary. Errors (BadInput): object arrays, big-endian or non-number
/// types, a malformed dictionary.
Result<NpyHeader> parseNpyHeader(std::string_view dictionary);

/// Magic, version and padded dictionary.
std::string npyHeaderText(DType dtype, const std::vector<std::int64_t>& shape);

} // namespace qs
