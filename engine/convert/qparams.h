// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/strong_id.h"
#include "engine/configure/observer_spec.h"

#include <cstdint>
#include <map>
#include <vector>

namespace qs {

/// How one value is turned into integers: q = clamp(round(x / scale) + zeroPoint, quantMin,
/// quantMax). One entry for per-tensor, one per channel along `axis` else. A value.
struct QParams
{
    DType dtype = DType::QUInt8;
    QScheme qscheme = QScheme::PerTensorAffine;
    std::vector<float> scale;
    std::vector<std::int64_t> zeroPoint;
    std::int64_t quantMin = 0;
    std::int64_t quantMax = 255;
    int axis = 0; ///< per-channel only
    /// Values of a row that share an entry, 0 = all: entries go through a row's groups before the
    /// next row, and the integers saturate at quantMin and quantMax.
    int groupSize = 0;
    bool calibrated = true; ///< false: the observer never ran; scale 1, zero point 0
    std::vector<float> floatZeroPoint; ///< PerChannelAffineFloatQParams only: the real zero points
    friend bool operator==(const QParams&, const QParams&) = default;
};

/// QParams of every planned observer that has integers to choose.
using QParamsTable = std::map<ObserverId, QParams>;

} // namespace qs
