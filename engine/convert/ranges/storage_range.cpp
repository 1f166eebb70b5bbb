// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/storage_range.h"

#include <algorithm>
#include <limits>

namespace qs {

DType storageDType(DType dtype)
{
    switch (dtype) {
    case DType::QUInt8:
    case DType::QUInt4x2:
    case DType::UInt8:
        return DType::UInt8;
    case DType::QInt8:
    case DType::Int8:
        return DType::Int8;
    case DType::QInt32:
    case DType::Int32:
        return DType::Int32;
    case DType::Int16:
    case DType::UInt16:
        return dtype;
    default:
        return DType::Unknown;
    }
}

QuantRange storageRange(DType dtype)
{
    if (dtype == DType::QUInt4x2)
        return {0, 15};
    switch (storageDType(dtype)) {
    case DType::UInt8:
        return {0, 255};
    case DType::Int8:
        return {-128, 127};
    case DType::Int16:
        return {-32768, 32767};
    case DType::UInt16:
        return {0, 65535};
    default:
        return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    }
}

ValueEnds chosenEnds(const QParams& qparams)
{
    const double scale = double(qparams.scale.front());
    const double zero = double(qparams.zeroPoint.front());
    return {(double(qparams.quantMin) - zero) * scale, (double(qparams.quantMax) - zero) * scale};
}

ValueEnds heldEnds(const QParams& qparams)
{
    const QuantRange stored = storageRange(qparams.dtype);
    const double scale = double(qparams.scale.front());
    const double zero = double(qparams.zeroPoint.front());
    return {(double(stored.min) - zero) * scale, (double(stored.max) - zero) * scale};
}

ValueEnds drawnEnds(const ValueEnds& data, const ValueEnds& chosen, const ValueEnds& held)
{
    constexpr double kFar = 3; // multiple of the range that is shown in any case
    ValueEnds out {std::min(data.low, chosen.low), std::max(data.high, chosen.high)};
    const double reach = kFar * (out.high - out.low);
    const double low = out.low - reach, high = out.high + reach;
    if (held.low >= low)
        out.low = std::min(out.low, held.low);
    if (held.high <= high)
        out.high = std::max(out.high, held.high);
    return out;
}

} // namespace qs
