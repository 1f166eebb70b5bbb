// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/compare/metrics/metrics.h"

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// Errors of one output over all batches.
struct OutputSums
{
    ErrorSums ours, toFloat, ownToFloat;
    double maxAbs = 0;
    std::int64_t differing = 0; ///< integers

    /// One batch: `y` of the float model (may be undefined), ours and the runtime's. Errors
    /// (Numeric): another shape than ours.
    Result<void> add(const at::Tensor& y, const at::Tensor& own, const at::Tensor& other,
                     const std::string& name);
};

/// Nothing without a signal.
Result<std::optional<double>> sqnrOf(const ErrorSums& sums);

} // namespace qs
