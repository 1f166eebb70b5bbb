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

/// Adds the errors of all elements of `other` against `signal` (floating point, equal shapes, any
/// device). An element where both have the same infinity, or both NaN, has no error and is left
/// out; if only one is finite, or both are not and differ, the error is infinite
/// (`isInfiniteError`). Errors: the shapes differ (Internal).
Result<void> addError(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& other);

/// Fails (Numeric) if a value of the float model that must not be NaN has a NaN.
Result<void> checkNoNaN(const at::Tensor& signal);

/// The values of a unit (design 5): y, y^, f(x^) and f_q(x), of one shape.
struct UnitValues
{
    at::Tensor signal, converted, onConverted, quantizedOnFloat;
};

/// Adds all four errors of one unit by the rules of `addError`. The born error is infinite if
/// y^ - f(x^) is; an element with a finite difference is left out if y is not finite.
Result<void> addErrors(UnitSums& sums, const UnitValues& values);

/// Adds y^ - y alone, in the order in which `addErrors` adds it.
Result<void> addCumulative(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& converted);

/// A value in the float and in the converted model, of one shape.
using ValuePair = std::pair<at::Tensor, at::Tensor>;
/// Adds the counts of all results of a unit for one batch. The first call chooses the grid.
void addCounts(ValueCounts& counts, std::span<const ValuePair> results);

/// The sums with the same signal and no noise.
ErrorSums noiselessSums(const ErrorSums& sums);

/// Whether the error of an element is infinite or NaN: the models differ at a value that is not
/// finite in one of them.
bool isInfiniteError(const ErrorSums& sums);

/// SQNR = 10 log10(signal^2 / noise^2) in dB, clamped to +-200 dB and empty without signal; cosine;
/// mean square; largest difference. An infinite error gives -200 dB, infinite mean square and
/// largest difference, and a NaN cosine. Empty if nothing was added.
std::optional<ErrorMetrics> metricsFrom(const ErrorSums& sums);

} // namespace qs
