// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/plan/module_statistics.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// The figures that one result comes down to; a member is empty if the result lacks it. A value.
struct ResultFigures : WholeErrors
{
    std::optional<int> quantizedOps {}, eligibleOps {}, totalOps {}; ///< as `Coverage` counts
    std::optional<std::int64_t> floatBytes {}, int8Bytes {}; ///< parameters and buffers
    std::string data {}; ///< that was compared on, as settings name it; "" = not known
};

/// Of a comparison, without `data`. `sizes` as `moduleStatistics` of the same plan gives it; may be
/// empty.
ResultFigures resultFigures(const Comparison& comparison, const Plan& plan,
                            const ModuleStatisticsMap& sizes);
/// Of a result document, or of the part of one that `run.json` carries. Throws Json's exceptions
/// where a key is of another type.
ResultFigures resultFigures(const nlohmann::ordered_json& document);

} // namespace qs
