// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/scan_recurrences.h"

#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/recurrence.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"

#include <algorithm>

namespace qs {

namespace {

std::size_t lengthOf(const Argument& argument)
{
    return argument.asList() ? argument.asList()->size() : 0;
}

/// Converts a step `(slice, states, extras) -> states` to scan's form `(states, slice, extras) ->
/// states, copy of the first state`.
Result<std::shared_ptr<const Graph>> combineGraph(const Graph& step, std::size_t states)
{
    GraphEdit edit(step);
    const auto inputs = step.inputs();
    const Node& output = step.output();
    if (inputs.size() < states + 1 || output.args.empty() || !output.args[0].value.asRef())
        return fail(ErrorCode::Internal, "a recurrence does not fit its step");
    const NodeId after
        = inputs.size() > states + 1 ? inputs[states + 1]->id : step.nodes()[states + 1]->id;
    edit.moveBefore(inputs[0]->id, after);
    const ValueRef first = *output.args[0].value.asRef();
    Node copy;
    copy.name = "step";
    copy.target = kCloneTarget;
    copy.args = {{"self", first}};
    copy.scope = step.get(first.node).scope;
    copy.outputs.push_back({"", step.value(first).type});
    auto returned = output.args;
    returned.push_back({"", ValueRef {edit.insert(std::move(copy)), 0}});
    edit.setArgs(output.id, std::move(returned));
    return std::make_shared<const Graph>(edit.build());
}

} // namespace

Result<Graph> scanRecurrences(const Graph& graph)
{
    const bool recurs = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                    [](const NodePtr& node) { return node->isOp(kRecurTarget); });
    if (!recurs)
        return graph;
    GraphEdit edit(graph);
    for (const NodePtr& original : graph.nodes()) {
        if (!original->isOp(kRecurTarget))
            continue;
        // Read again from the edit: its sequence may come from a recurrence that is already a scan.
        const Node node = edit.get(original->id);
        const std::size_t states = lengthOf(node.args.at(1).value);
        Node scan = node;
        scan.id = {};
        scan.target = "higher_order.scan";
        auto combine = combineGraph(*node.subgraphs.at(0), states);
        if (!combine)
            return fail(std::move(combine).error().atNode(node.name));
        scan.subgraphs = {*combine};
        scan.args = {{"", std::string(kSubgraphPrefix) + "0"},
                     {"", node.args[1].value},
                     {"", Argument::List {node.args[0].value}},
                     {"", node.args.at(2).value}};
        scan.outputs.clear();
        for (std::uint32_t i = 1; i <= states; ++i)
            scan.outputs.push_back({"", node.outputs.at(i).type});
        scan.outputs.push_back({"", node.outputs.at(0).type});
        for (std::size_t i = 0; i < scan.outputs.size(); ++i)
            scan.outputs[i].name = node.name + "_scan_" + std::to_string(i);
        const NodeId made = edit.insert(std::move(scan), node.id);
        edit.replaceUses({node.id, 0}, {made, std::uint32_t(states)});
        for (std::uint32_t i = 1; i <= states; ++i)
            edit.replaceUses({node.id, i}, {made, i - 1});
        edit.erase(node.id);
    }
    return edit.build();
}

} // namespace qs
