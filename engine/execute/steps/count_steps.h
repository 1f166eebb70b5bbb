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

/// The values on the grid of a quantized tensor.
at::Tensor onGridOf(const at::Tensor& grid, const at::Tensor& values);

/// In all of these: made less wanted, of tensors of one shape; NaN is infinitely far.

/// In steps of the wanted grid. `made`: quantized, with any parameters, or float.
StepCounts countSteps(const at::Tensor& made, const GridValues& wanted);
/// Of float values: in steps of an eight-bit grid over the wanted ones' range.
StepCounts countFloatSteps(const at::Tensor& made, const at::Tensor& wanted);
/// Of quantized tensors with one grid.
StepCounts countSteps(const at::Tensor& made, const at::Tensor& wanted);
/// From values that are not on a grid: in steps of the grid of `made`.
StepCounts countOwnSteps(const at::Tensor& made, const at::Tensor& wanted);

} // namespace qs
