// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/taken_apart.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

bool isRecurrent(const std::string& name)
{
    static constexpr std::array<std::string_view, 5> kLayers {
        "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.LSTMCell", "torch.nn.GRUCell",
        "torch.nn.RNNCell"};
    return std::find(kLayers.begin(), kLayers.end(), name) != kLayers.end();
}

/// What every step multiplies by its weights.
bool isProduct(const OpName& name)
{
    return name.base == "addmm" || name.base == "mm" || name.base == "bmm" || name.base == "linear";
}

} // namespace

std::map<std::string, std::string> layersTakenApart(const Graph& graph, const OpNames& names)
{
    std::map<std::string, std::string> found;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].kind == OpName::Kind::Inside && isRecurrent(names[i].name)
            && isProduct(names[i]))
            found.emplace(graph.nodes()[i]->scope.path, names[i].name);
    return found;
}

Taker takerOf(const Graph& graph)
{
    const std::string purpose = " to have it quantized";
    if (graph.info().format == "torchscript")
        return {"torch.jit.trace", "export it with torch.export or torch.jit.script" + purpose};
    return {"run_decompositions()", "export without it" + purpose};
}

} // namespace qs
