// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/qparams.h"

namespace qs {

/// The integer type that stores a quantized dtype: quint8 in uint8, qint8 in int8, qint32 in int32;
/// an integer type is itself. Unknown for types that are not quantized to integers.
DType storageDType(DType dtype);

/// The range that a type of integers holds.
QuantRange storageRange(DType dtype);

/// The lowest and the highest number of a range of values.
struct ValueEnds
{
    double low = 0;
    double high = 0;
    friend bool operator==(const ValueEnds&, const ValueEnds&) = default;
};
/// The values of the observer's quant_min and quant_max by one scale and zero point: the range that
/// the scale was chosen for. Per-tensor parameters only.
ValueEnds chosenEnds(const QParams& qparams);
/// The values of the ends of the stored type, where values saturate in the converted model. Wider
/// than the chosen range under reduce_range. Per-tensor parameters only.
ValueEnds heldEnds(const QParams& qparams);
/// The range that a plot of values shows: all of `data` and `chosen`, and the ends of `held` unless
/// they are many times further away.
ValueEnds drawnEnds(const ValueEnds& data, const ValueEnds& chosen, const ValueEnds& held);

} // namespace qs
