// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/calls/open_sizes.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace qs {

OpenSizes openSizes(const Graph& graph, const std::vector<at::IValue>& inputs)
{
    OpenSizes open;
    const auto nodes = graph.inputs();
    for (std::size_t i = 0; i < std::min(inputs.size(), nodes.size()); ++i) {
        if (!inputs[i].isTensor() || nodes[i]->outputs.empty())
            continue;
        const auto& shape = nodes[i]->outputs[0].type.shape;
        const auto sizes = inputs[i].toTensor().sizes();
        for (std::size_t d = 0; d < std::min(shape.size(), sizes.size()); ++d)
            if (shape[d].isSymbolic())
                open.emplace(shape[d].symbol, sizes[d]);
    }
    return open;
}

OpenSizes openSizes(const Graph& graph, std::int64_t samples)
{
    OpenSizes open;
    for (const Node* input : graph.inputs())
        for (const Value& value : input->outputs)
            if (const auto& shape = value.type.shape; !shape.empty() && shape[0].isSymbolic())
                open.emplace(shape[0].symbol, samples);
    return open;
}

} // namespace qs
