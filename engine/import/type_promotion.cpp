// SPDX-License-Identifier: Apache-2.0
#include "engine/import/type_promotion.h"

#include <algorithm>
#include <array>

namespace qs {

int typeKind(DType dtype)
{
    return dtype == DType::Bool                                   ? 0
        : dtype == DType::Complex64 || dtype == DType::Complex128 ? 3
        : isFloating(dtype)                                       ? 2
                                                                  : 1;
}

DType promotedTypes(DType a, DType b)
{
    if (a == b)
        return a;
    const auto areBoth = [&](DType real, DType complex) {
        return (a == real && b == complex) || (a == complex && b == real);
    };
    if (areBoth(DType::Float64, DType::Complex64))
        return DType::Complex128;
    if (typeKind(a) != typeKind(b))
        return typeKind(a) > typeKind(b) ? a : b;
    static constexpr std::array kWider {DType::UInt8,     DType::Int8,      DType::Int16,
                                        DType::Int32,     DType::Int64,     DType::Float16,
                                        DType::BFloat16,  DType::Float32,   DType::Float64,
                                        DType::Complex64, DType::Complex128};
    const auto place = [](DType dtype) {
        return std::find(kWider.begin(), kWider.end(), dtype) - kWider.begin();
    };
    const auto [low, high]
        = std::minmax(a, b, [&](DType x, DType y) { return place(x) < place(y); });
    if (low == DType::UInt8 && high == DType::Int8)
        return DType::Int16;
    return low == DType::Float16 && high == DType::BFloat16 ? DType::Float32 : high;
}

} // namespace qs
