// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/taken_apart.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operator_words.h"

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

} // namespace

std::map<std::string, std::string> layersTakenApart(const Graph& graph, const OpNames& names)
{
    std::map<std::string, std::string> found;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].kind == OpName::Kind::Inside && isRecurrent(names[i].name)
            && familyOf(names[i].base) == OperatorFamily::Product) // of a step and its weights
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

std::string_view classBeforeParametrization(std::string_view moduleClass)
{
    constexpr std::string_view kPrefix = "torch.nn.utils.parametrize.Parametrized";
    return moduleClass.starts_with(kPrefix) ? moduleClass.substr(kPrefix.size())
                                            : std::string_view();
}

bool hasComputedTensors(const Graph& graph, const Node& layer, const OpName& name)
{
    if (classBeforeParametrization(layer.scope.moduleClass).empty())
        return false;
    for (std::size_t a = 0; a < layer.args.size(); ++a) {
        const ValueRef* ref = layer.args[a].value.asRef();
        const ArgumentRole role = argumentRole(layer, name, a);
        if (ref && (role == ArgumentRole::Weight || role == ArgumentRole::Bias)
            && !graph.get(ref->node).isStored())
            return true;
    }
    return false;
}

std::string removalOfParametrization(const Graph& graph, const std::string& path)
{
    const ModuleEntry* tensors
        = graph.modules().tryGet(path.empty() ? "parametrizations" : path + ".parametrizations");
    const std::string tensor
        = tensors && !tensors->children.empty() ? lastPart(tensors->children.front()) : "weight";
    return "fold it (--fold, or the edit \"fold\"), or call "
           "torch.nn.utils.parametrize.remove_parametrizations(module, "
        + inQuotes(tensor) + ") before exporting it";
}

} // namespace qs
