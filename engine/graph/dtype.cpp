// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/dtype.h"

#include <array>

namespace qs {

namespace {

struct DTypeRow
{
    DType dtype;
    std::string_view name;
    std::string_view alias;
    int size;
};

constexpr std::array<DTypeRow, 22> kRows {{
    {DType::Unknown, "unknown", "", 0},
    {DType::Bool, "bool", "", 1},
    {DType::UInt8, "uint8", "", 1},
    {DType::Int8, "int8", "", 1},
    {DType::Int16, "int16", "short", 2},
    {DType::Int32, "int32", "int", 4},
    {DType::Int64, "int64", "long", 8},
    {DType::Float16, "float16", "half", 2},
    {DType::BFloat16, "bfloat16", "", 2},
    {DType::Float32, "float32", "float", 4},
    {DType::Float64, "float64", "double", 8},
    {DType::Complex64, "complex64", "cfloat", 8},
    {DType::Complex128, "complex128", "cdouble", 16},
    {DType::Float8E5M2, "float8_e5m2", "", 1},
    {DType::Float8E4M3FN, "float8_e4m3fn", "", 1},
    {DType::QUInt8, "quint8", "", 1},
    {DType::QInt8, "qint8", "", 1},
    {DType::QInt32, "qint32", "", 4},
    {DType::UInt16, "uint16", "", 2},
    {DType::UInt32, "uint32", "", 4},
    {DType::UInt64, "uint64", "", 8},
    {DType::QUInt4x2, "quint4x2", "", 1},
}};

const DTypeRow& row(DType dtype)
{
    for (const auto& r : kRows)
        if (r.dtype == dtype)
            return r;
    return kRows[0];
}

} // namespace

std::string_view dtypeName(DType dtype)
{
    return row(dtype).name;
}

std::optional<DType> dtypeFromName(std::string_view name)
{
    if (name.starts_with("torch."))
        name.remove_prefix(6);
    for (const auto& r : kRows)
        if (r.dtype != DType::Unknown && (r.name == name || (!r.alias.empty() && r.alias == name)))
            return r.dtype;
    return std::nullopt;
}

int dtypeSize(DType dtype)
{
    return row(dtype).size;
}

bool isWholeNumber(DType dtype)
{
    switch (dtype) {
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
        return true;
    default:
        return false;
    }
}

bool isFloating(DType dtype)
{
    switch (dtype) {
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
    case DType::Float8E5M2:
    case DType::Float8E4M3FN:
        return true;
    default:
        return false;
    }
}

bool isQuantized(DType dtype)
{
    return dtype == DType::QUInt8 || dtype == DType::QInt8 || dtype == DType::QInt32
        || dtype == DType::QUInt4x2;
}

} // namespace qs
