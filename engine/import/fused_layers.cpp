// SPDX-License-Identifier: Apache-2.0
#include "engine/import/fused_layers.h"

#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/fused_activations.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>

namespace qs {

namespace {

/// True for layers that do not compute an activation themselves.
bool isPlainLayer(std::string_view moduleClass)
{
    return moduleClass.starts_with("torch.nn.Conv") || moduleClass == "torch.nn.Linear"
        || moduleClass.starts_with("torch.nn.BatchNorm");
}

/// Returns the operator word of an activation recorded inside a layer; empty for other nodes.
std::string_view fusedWord(const Node& node)
{
    if (node.kind != NodeKind::Op || !isPlainLayer(node.scope.moduleClass))
        return {};
    const std::string_view word = operatorParts(atenWord(node.target)).base();
    return fusedActivationClass(word).empty() ? std::string_view() : word;
}

} // namespace

GraphPtr withFusedActivations(const GraphPtr& graph)
{
    const auto nodes = graph->nodes();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const NodePtr& node) { return !fusedWord(*node).empty(); }))
        return graph;
    GraphEdit edit(*graph);
    for (const NodePtr& node : nodes) {
        const std::string_view word = fusedWord(*node);
        if (word.empty())
            continue;
        Scope scope = node->scope;
        scope.path += "." + std::string(word);
        scope.moduleClass = "torch.nn." + std::string(fusedActivationClass(word));
        edit.modules().add(scope.path, scope.moduleClass);
        edit.change(node->id).scope = std::move(scope);
    }
    return std::make_shared<const Graph>(edit.build());
}

} // namespace qs
