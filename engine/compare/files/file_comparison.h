// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/compare/files/model_match.h"

namespace qs {

/// A float model compared with a quantized model of any origin.
struct FileComparison
{
    ModelMatch match;
    /// One for each of `match.values`; empty for values that are not numeric or differ in shape.
    std::vector<std::optional<ErrorMetrics>> errors;
    std::vector<OutputError> outputs; ///< only `cumulative` is set
    std::optional<Agreement> agreement; ///< as in `Comparison`
    SampleErrorsPtr sampleErrors; ///< as in `Comparison`
    std::int64_t samples = 0;
};

} // namespace qs
