// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/compare/files/model_match.h"

namespace qs {

/// A float model compared with a quantized model of any origin.
struct FileComparison
{
    ModelMatch match;
    /// Of `match.values`; empty for values that are not numbers or differ in shape.
    std::vector<std::optional<ErrorMetrics>> errors;
    std::vector<OutputError> outputs; ///< `cumulative` alone
    std::optional<Agreement> agreement; ///< as of `Comparison`
    std::int64_t samples = 0;
};

} // namespace qs
