// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace qs {

/// How a layer multiplies: a linear, or a convolution over one to three dimensions.
struct LayerShape
{
    bool isLinear = true;
    std::int64_t groups = 1;
    std::vector<std::int64_t> stride, padding, dilation; ///< of a convolution, by dimension
};

/// Errors, in one sentence: an operator other than a linear or an ordinary convolution, a padding
/// that is not the same on both sides. `weight`: [outputs, inputs of a group, kernel ...].
Result<LayerShape> layerShape(const Node& node, const at::Tensor& weight);

/// Products that a layer computes, as rows: output[r, g] = weight[g] input[r, g].
struct LayerRows
{
    at::Tensor inputs; ///< [groups, rows, inputs of an output]
    at::Tensor outputs; ///< [groups, rows, outputs of a group]
};

/// Takes at most `most` evenly spread rows of a layer's input and result. The same shapes give the
/// same rows.
LayerRows layerRows(const LayerShape& shape, const at::Tensor& weight, const at::Tensor& input,
                    const at::Tensor& output, std::int64_t most);

/// The weight as [groups, outputs of a group, inputs of an output].
at::Tensor groupedWeight(const LayerShape& shape, const at::Tensor& weight);

} // namespace qs
