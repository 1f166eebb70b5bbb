// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace qs {

/// Codes of element types, layouts and memory formats in a .pt2: the enums of
/// `torch/_export/serde/schema.py`. Reader and writer use the same table.
inline constexpr std::array<std::pair<int, DType>, 15> kPt2ScalarTypes {{
    {1, DType::UInt8},
    {2, DType::Int8},
    {3, DType::Int16},
    {4, DType::Int32},
    {5, DType::Int64},
    {6, DType::Float16},
    {7, DType::Float32},
    {8, DType::Float64},
    {10, DType::Complex64},
    {11, DType::Complex128},
    {12, DType::Bool},
    {13, DType::BFloat16},
    {28, DType::UInt16},
    {29, DType::Float8E4M3FN},
    {30, DType::Float8E5M2},
}};

/// Names by code; code 0 is unused.
inline constexpr std::array<std::string_view, 8> kPt2Layouts {
    "", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "strided"};
inline constexpr std::array<std::string_view, 5> kPt2MemoryFormats {
    "", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"};

/// Returns the name of a code; "" if the code is out of range.
template<std::size_t N>
std::string pt2Word(const std::array<std::string_view, N>& words, int number)
{
    return number >= 0 && std::size_t(number) < N ? std::string(words[std::size_t(number)])
                                                  : std::string();
}

/// Returns the code of a name; 0 if it is unknown.
template<std::size_t N>
int pt2Code(const std::array<std::string_view, N>& words, std::string_view word)
{
    const auto it = std::find(words.begin(), words.end(), word);
    return it == words.end() ? 0 : int(it - words.begin());
}

} // namespace qs
