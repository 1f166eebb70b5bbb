// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Element types, ours so that graph and plan need no torch header.
enum class DType : std::uint8_t
{
    Unknown,
    Bool,
    UInt8,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    Float8E5M2,
    Float8E4M3FN,
    QUInt8,
    QInt8,
    QInt32,
    UInt16,
    UInt32,
    UInt64,
    QUInt4x2
};

/// PyTorch's name without "torch.": "float32", "quint8". "unknown" for Unknown.
std::string_view dtypeName(DType dtype);
/// Accepts "float32", "float", "torch.float32", "quint8"; nullopt for other words.
std::optional<DType> dtypeFromName(std::string_view name);
/// Bytes of one element; 0 for Unknown.
int dtypeSize(DType dtype);
bool isFloating(DType dtype);
/// True for the integers with and without sign, not for bool and the quantized types.
bool isWholeNumber(DType dtype);
/// True for quint8, qint8, qint32, quint4x2.
bool isQuantized(DType dtype);

/// Where a tensor lives: "cpu", "cuda" with an index, "meta".
struct Device
{
    std::string type = "cpu";
    int index = -1;
    std::string text() const { return index < 0 ? type : type + ":" + std::to_string(index); }
    friend bool operator==(const Device&, const Device&) = default;
};

/// One dimension: a fixed size, or a symbolic expression whose hint is the traced size.
struct Dim
{
    std::int64_t size = -1; ///< the fixed size, or the traced hint when symbolic; -1 = unknown
    std::string symbol; ///< expression ("s77", "2*s77"), empty if fixed; see `expression` for the
                        ///< file's text
    std::string expression; ///< verbatim sympy text of the file, kept for export

    static Dim fixed(std::int64_t n) { return {n, {}, {}}; }
    bool isSymbolic() const { return !symbol.empty(); }
    std::string text() const
    {
        return isSymbolic() ? symbol : size < 0 ? std::string("?") : std::to_string(size);
    }
    friend bool operator==(const Dim&, const Dim&) = default;
};

} // namespace qs
