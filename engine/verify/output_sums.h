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
    std::int64_t differing = 0; ///< number of integers that differ

    /// Adds one batch: the output of the float model (`y`, may be undefined), ours (`own`) and the
    /// runtime's (`other`). Errors (Numeric): the runtime's shape differs from ours.
    Result<void> add(const at::Tensor& y, const at::Tensor& own, const at::Tensor& other,
                     const std::string& name);
};

/// SQNR in dB; empty without a signal.
Result<std::optional<double>> sqnrOf(const ErrorSums& sums);

} // namespace qs
