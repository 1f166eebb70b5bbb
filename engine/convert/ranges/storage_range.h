// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/qparams.h"

namespace qs {

/// Returns the integer type that stores a quantized dtype: uint8 for quint8, int8 for qint8, int32
/// for qint32; integer types unchanged. Unknown for types not quantized to integers.
DType storageDType(DType dtype);

/// Returns the range of an integer type.
QuantRange storageRange(DType dtype);

/// The ends of a range of values.
struct ValueEnds
{
    double low = 0;
    double high = 0;
    friend bool operator==(const ValueEnds&, const ValueEnds&) = default;
};
/// Returns the values of the observer's quant_min and quant_max: the range for which the scale was
/// chosen. Per-tensor parameters only.
ValueEnds chosenEnds(const QParams& qparams);
/// Returns the values of the stored type's limits, at which the converted model saturates. Wider
/// than the chosen range with reduce_range. Per-tensor parameters only.
ValueEnds heldEnds(const QParams& qparams);
/// Returns the range for a plot of values: all of `data` and `chosen`, and the ends of `held`
/// unless they are several times further away.
ValueEnds drawnEnds(const ValueEnds& data, const ValueEnds& chosen, const ValueEnds& held);

} // namespace qs
