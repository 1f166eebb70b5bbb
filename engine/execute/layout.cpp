// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/layout.h"

#include "engine/graph/operators/operators.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

bool convolvesImages(const Node& node)
{
    const bool convolution = factsOf(node.target).family == OperatorFamily::Convolution;
    return convolution && !node.outputs.empty() && node.outputs[0].type.shape.size() == 4;
}

} // namespace

bool readsStrides(const Node& node)
{
    return !node.subgraphs.empty() || !node.opaqueReason.empty()
        || hasTrait(node.target, OperatorTrait::ReadsStrides);
}

bool wantsViewableStrides(const Node& node)
{
    return hasTrait(node.target, OperatorTrait::NeedsViewableStrides);
}

Layout fastLayout(const Graph& graph)
{
    bool images = false;
    for (const NodePtr& node : graph.nodes()) {
        if (readsStrides(*node))
            return Layout::AsGiven;
        images = images || convolvesImages(*node);
    }
    return images ? Layout::ChannelsLast : Layout::AsGiven;
}

Layout fastLayout(const Graph& one, const Graph& other, at::Device device)
{
    const bool fast = device.is_cpu() && fastLayout(one) == Layout::ChannelsLast
        && fastLayout(other) == Layout::ChannelsLast;
    return fast ? Layout::ChannelsLast : Layout::AsGiven;
}

at::IValue inLayout(const at::IValue& value, Layout layout)
{
    if (layout == Layout::AsGiven || !value.isTensor())
        return value;
    const at::Tensor& tensor = value.toTensor();
    const bool image
        = tensor.defined() && tensor.is_cpu() && tensor.dim() == 4 && tensor.is_floating_point();
    return image ? at::IValue(tensor.contiguous(at::MemoryFormat::ChannelsLast)) : value;
}

} // namespace qs
