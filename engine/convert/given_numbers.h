// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/graph/graph_edit.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Adds a constant with the weight's values at the steps that a cure gives (`LayerNumbers::steps`),
/// which quantize to exactly these integers. `qparams`: the weight's. Errors, without a change: the
/// steps do not fit this weight (another shape or scale, a step or more from it, outside the
/// range).
Result<ValueRef> addRoundedWeight(GraphEdit& edit, ValueRef weight, const QParams& qparams,
                                  const LayerNumbers& numbers);

/// Adds the given numbers to the layer's bias, or makes them its bias. Returns the bias before,
/// invalid if there was none. Errors, without a change: an
/// operator without a bias, another number of channels, a bias that is not stored.
Result<ValueRef> shiftBias(GraphEdit& edit, NodeId layer, const LayerNumbers& numbers);

/// Gives the layers in a draft of the model's reference form the weights and biases that they had
/// before cures.
void dropGivenNumbers(GraphEdit& edit, const ConvertedModel& converted);

/// The scale of each element of a weight of this shape, or its zero point (int64): a tensor that
/// broadcasts to the shape.
at::Tensor scalesFor(const QParams& qparams, at::IntArrayRef shape);
at::Tensor zeroPointsFor(const QParams& qparams, at::IntArrayRef shape);

} // namespace qs
