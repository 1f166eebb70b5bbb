// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/steps/step_counts.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Integers of the reference form, with their parameters.
struct GridValues
{
    at::Tensor integers;
    double scale = 1;
    std::int64_t zeroPoint = 0;
};

/// `values` quantized with the parameters of the quantized tensor `grid`.
at::Tensor onGridOf(const at::Tensor& grid, const at::Tensor& values);

// All functions count differences `made - wanted` of tensors of equal shape; NaN counts as an
// infinite difference.

/// In steps of the grid of `wanted`. `made`: quantized with any parameters, or float.
StepCounts countSteps(const at::Tensor& made, const GridValues& wanted);
/// For float values: in steps of an 8-bit grid over the range of `wanted`.
StepCounts countFloatSteps(const at::Tensor& made, const at::Tensor& wanted);
/// In steps of the quantized tensor `wanted`, which has one scale.
StepCounts countSteps(const at::Tensor& made, const at::Tensor& wanted);
/// For float `wanted`: in steps of the grid of the quantized tensor `made`.
StepCounts countOwnSteps(const at::Tensor& made, const at::Tensor& wanted);

} // namespace qs
