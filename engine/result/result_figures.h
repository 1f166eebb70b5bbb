// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/plan/module_statistics.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// The user's metric for the outputs of both models on the compared data. Finite.
struct Evaluation
{
    double floating = 0;
    double int8 = 0; ///< of the lowered model
    friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

/// The summary figures of one result; a member is empty if the result lacks it. A value type.
struct ResultFigures : WholeErrors
{
    std::optional<int> quantizedOps {}, eligibleOps {}, totalOps {}; ///< counted as in `Coverage`
    std::optional<std::int64_t> floatBytes {}, int8Bytes {}; ///< parameters and buffers
    std::optional<Evaluation> evaluation {}; ///< the user's metric
    std::string data {}; ///< data of the comparison, as in the settings; "" = unknown
};

/// Returns the figures of a comparison, without `data`. `sizes`: the result of `moduleStatistics`
/// for the same plan; may be empty.
ResultFigures resultFigures(const Comparison& comparison, const Plan& plan,
                            const ModuleStatisticsMap& sizes);
/// Returns the figures of a result document, or of its excerpt in `run.json`. Throws Json's
/// exceptions if a key has another type.
ResultFigures resultFigures(const nlohmann::ordered_json& document);

/// The user's metric as a result document holds it.
nlohmann::ordered_json evaluationJson(const Evaluation& evaluation);
/// The user's metric in a result document; nullopt without it.
std::optional<Evaluation> evaluationIn(const nlohmann::ordered_json& document);

} // namespace qs
