// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// What a layer should compute of what it reads, in sums over rows: the layer's input x as the
/// converted model computes it, its result y as the float model does. Leading dimension: groups.
struct LayerSums
{
    at::Tensor inputs; ///< sum of x, [groups, inputs]
    at::Tensor outputs; ///< sum of y without the bias, [groups, outputs]
    at::Tensor squares; ///< sum of x x', [groups, inputs, inputs]
    at::Tensor products; ///< sum of y x', [groups, outputs, inputs]
    double power = 0; ///< sum of y squared
    std::int64_t rows = 0;
};

/// Adds rows ([groups, rows, inputs] and [groups, rows, outputs]).
void addRows(LayerSums& sums, const at::Tensor& inputs, const at::Tensor& outputs);
/// The sums of differences from the means: for a layer whose bias takes up the means.
LayerSums centred(const LayerSums& sums);
/// The sum of squares of y - weight x. `weight`: [groups, outputs, inputs].
double errorPower(const LayerSums& sums, const at::Tensor& weight);

/// A weight and the grid that it is rounded to; all of [groups, outputs, inputs].
struct WeightGrid
{
    at::Tensor weight;
    at::Tensor scale;
    at::Tensor lowest, highest; ///< steps from zero
};

/// Rounds each weight up or down so that weight x is as near to y as possible over the rows.
/// Returns steps from zero as floats, less than one from weight / scale.
///
/// By columns, what rounding one changes is made up for by the columns after it (Frantar et al.,
/// "GPTQ", 2022); then single weights are turned over while that helps, which
/// minimizes the objective of AdaRound (Nagel et al., "Up or Down?", 2020, asymmetric) over the
/// same choices. Deterministic. Fails only with Cancelled. May throw c10::Error.
Result<at::Tensor> roundWeight(const WeightGrid& grid, const LayerSums& sums,
                               const JobContext& job = {});

} // namespace qs
