// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/strong_id.h"
#include "engine/configure/observer_spec.h"

#include <cstdint>
#include <map>
#include <vector>

namespace qs {

/// Quantization parameters of one value: q = clamp(round(x / scale) + zeroPoint, quantMin,
/// quantMax). One entry per tensor, or one per channel along `axis`. A value.
struct QParams
{
    DType dtype = DType::QUInt8;
    QScheme qscheme = QScheme::PerTensorAffine;
    std::vector<float> scale;
    std::vector<std::int64_t> zeroPoint;
    std::int64_t quantMin = 0;
    std::int64_t quantMax = 255;
    int axis = 0; ///< per-channel only
    /// Number of values of a row that share an entry; 0 = all. Entries are ordered by row, then by
    /// group; integers saturate at quantMin and quantMax.
    int groupSize = 0;
    bool calibrated = true; ///< false: the observer never ran; scale 1, zero point 0
    std::vector<float> floatZeroPoint; ///< PerChannelAffineFloatQParams only: the real zero points
    friend bool operator==(const QParams&, const QParams&) = default;
};

/// QParams of every planned observer whose parameters are chosen.
using QParamsTable = std::map<ObserverId, QParams>;

} // namespace qs
