// SPDX-License-Identifier: Apache-2.0
#include "engine/train/matched_values.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>

namespace qs {

namespace {

/// The node of this name, else the last operator within the module of this name; null if nothing
/// has it.
const Node* namedNode(const Graph& graph, const std::string& name)
{
    if (const Node* node = graph.tryFind(name))
        return node;
    const Node* last = nullptr;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && ModuleTree::isWithin(node->scope.path, name))
            last = node.get();
    return last;
}

std::string similarName(const Graph& graph, const std::string& name)
{
    std::vector<std::string> names;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator()) {
            names.push_back(node->name);
            if (!node->scope.path.empty())
                names.push_back(node->scope.path);
        }
    return suggestName(name, names);
}

/// The value as its readers see it: rounded, if the graph has one fake quantizer of it.
ValueRef seenValue(const Graph& graph, ValueRef value)
{
    ValueRef seen = value;
    int observers = 0;
    for (const Use& use : graph.users(value))
        if (graph.get(use.node).isOp(kObserveTarget)) {
            seen = {use.node, 0};
            ++observers;
        }
    return observers == 1 ? seen : value;
}

} // namespace

Result<std::vector<ValueRef>> matchedValues(const TrainingGraph& graph,
                                            const std::vector<std::string>& names)
{
    std::vector<ValueRef> values;
    const std::string& file = graph.model->info().path;
    for (const std::string& name : names) {
        const Node* node = namedNode(*graph.model, name);
        if (!node)
            return fail(makeError(ErrorCode::Usage, "no node or module is named " + inQuotes(name))
                            .inFile(file)
                            .withHint(similarName(*graph.model, name)));
        const ValueRef value {unitEnd(*graph.model, *graph.plan, node->id), 0};
        if (node->outputs.empty() || !graph.model->value(value).type.mayBeFloat())
            return fail(makeError(ErrorCode::Usage,
                                  "the value of " + inQuotes(name) + " is not a tensor of floats")
                            .inFile(file));
        if (std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(value);
    }
    return values;
}

GraphPtr withOutputs(const GraphPtr& graph, const std::vector<ValueRef>& values)
{
    if (values.empty())
        return graph;
    GraphEdit edit(*graph);
    const NodeId output = graph->output().id;
    std::vector<NamedArgument> args = edit.get(output).args;
    for (const ValueRef value : values)
        args.push_back({"matched_" + std::to_string(args.size()), seenValue(*graph, value)});
    edit.setArgs(output, std::move(args));
    return std::make_shared<const Graph>(edit.build());
}

} // namespace qs
