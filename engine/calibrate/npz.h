// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/dtype.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// One array of an .npz: its name without ".npy", element type, shape and bytes in C order,
/// little-endian.
struct NpyArray
{
    std::string name;
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
    std::int64_t elements() const;
};

/// Reads every array, in the file's order, at most `maxRows` rows (first dimension) of each (0 =
/// all); `shape` then says what was read and `rows` what there is. Errors name file and array: not
/// a zip file, truncated, an object array (a pickle, never read), a type that is no number.
struct NpzContent
{
    std::vector<NpyArray> arrays;
    std::vector<std::int64_t> rows; ///< full first dimension of each array, 0 for scalars
};
Result<NpzContent> readNpz(const std::string& path, std::int64_t maxRows = 0);

/// Writes the arrays by atomic rename. The error (Io) names the path.
Result<void> writeNpz(const std::vector<NpyArray>& arrays, const std::string& path);

/// An array of float32, int64 or text-free numbers from a vector.
NpyArray npyFrom(std::string name, const std::vector<float>& values);
NpyArray npyFrom(std::string name, const std::vector<std::int64_t>& values);
/// Zero-dimensional arrays.
NpyArray npyScalar(std::string name, float value);
NpyArray npyScalar(std::string name, std::int64_t value);

} // namespace qs
