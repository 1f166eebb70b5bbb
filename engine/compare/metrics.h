// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/compare/comparison.h"
#include "engine/kernels/error_stats.h"

#include <ATen/core/Tensor.h>

namespace qs {

using kernels::ErrorSums;
/// Streaming sums of the four error terms of one unit.
using UnitSums = kernels::ErrorTerms;

/// Adds all elements of `other` against `signal` (floating point, same shape, any device). Elements
/// where the signal itself is infinite, as in attention masks, are left out. Errors: the signal
/// holds NaN (Numeric), the shapes differ (Internal).
Result<void> addError(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& other);

/// What a unit made (design 5): y, y^, f(x^) and f_q(x), of one shape.
struct UnitValues
{
    at::Tensor signal, converted, onConverted, quantizedOnFloat;
};

/// Adds all four errors of one unit, as `addError` does one.
Result<void> addErrors(UnitSums& sums, const UnitValues& values);

/// Sums of a signal against itself: no noise at all.
ErrorSums noiselessSums(const ErrorSums& sums);

/// SQNR = 10 log10(signal^2 / noise^2), capped at +-200 dB and empty without signal; cosine; mean
/// square; largest difference. Empty when nothing was added.
std::optional<ErrorMetrics> metricsFrom(const ErrorSums& sums);

} // namespace qs
