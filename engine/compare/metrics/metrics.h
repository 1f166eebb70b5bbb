// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/compare/comparison.h"
#include "engine/compare/metrics/value_counts.h"
#include "engine/kernels/error_stats.h"

#include <ATen/core/Tensor.h>

#include <span>
#include <utility>

namespace qs {

using kernels::ErrorSums;
/// Streaming sums of the four error terms of one unit.
using UnitSums = kernels::ErrorTerms;

/// Adds all elements of `other` against `signal` (floating point, same shape, any device).
/// Infinities and NaN: if both sides hold the same infinity, or both NaN, the error is 0 and the
/// element is left out; where only one of them is finite, or both are not and differ, the error is
/// infinite (`isInfiniteError`). Errors: the shapes differ (Internal).
Result<void> addError(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& other);

/// Fails (Numeric) where a value of the float model that must be a number holds NaN.
Result<void> checkNoNaN(const at::Tensor& signal);

/// The values of a unit (design 5): y, y^, f(x^) and f_q(x), of one shape.
struct UnitValues
{
    at::Tensor signal, converted, onConverted, quantizedOnFloat;
};

/// Adds all four errors of one unit, as `addError` does one. The born error is infinite where y^ -
/// f(x^) is; where y itself is not finite, a finite difference is left out.
Result<void> addErrors(UnitSums& sums, const UnitValues& values);

/// A value in the float and in the converted model, of one shape.
using ValuePair = std::pair<at::Tensor, at::Tensor>;
/// Counts all results of a unit, of one batch; the first call chooses the grid.
void addCounts(ValueCounts& counts, std::span<const ValuePair> results);

/// Sums of a signal against itself: no noise at all.
ErrorSums noiselessSums(const ErrorSums& sums);

/// An element's error is infinite or NaN: the two models differ where one of them is not finite.
bool isInfiniteError(const ErrorSums& sums);

/// SQNR = 10 log10(signal^2 / noise^2), capped at +-200 dB and empty without signal; cosine; mean
/// square; largest difference. An infinite error has -200 dB, infinite mean square and largest
/// difference, and NaN for a cosine. Empty when nothing was added.
std::optional<ErrorMetrics> metricsFrom(const ErrorSums& sums);

} // namespace qs
