// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/inline_regions.h"

#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/recurrence.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operator_name.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

/// Maps values of a region's graph to arguments of the outer graph.
using Outside = std::unordered_map<ValueRef, Argument>;

bool isInlined(const Node& node)
{
    return node.isOp(kRegionTarget) || node.isOp(kModuleTarget);
}

class RegionInliner
{
public:
    explicit RegionInliner(const Graph& graph)
        : m_edit(graph)
    {
    }

    Result<InlinedGraph> run()
    {
        for (const NodeId id : m_edit.order()) {
            const NodePtr region = regionAt(id);
            if (!region) {
                QS_CHECK(inlineInBodies(id));
                continue;
            }
            auto done = inlineOne(id, *region);
            if (!done)
                return fail(std::move(done).error().atNode(region->name));
        }
        m_out.graph = std::make_shared<const Graph>(m_edit.build());
        return std::move(m_out);
    }

private:
    NodePtr regionAt(NodeId id) const
    {
        const Node& node = m_edit.get(id);
        return isInlined(node) ? std::make_shared<const Node>(node) : nullptr;
    }

    Result<void> inlineInBodies(NodeId id)
    {
        for (std::size_t i = 0; i < m_edit.get(id).subgraphs.size(); ++i) {
            QS_TRY(InlinedGraph inner, inlineRegions(*m_edit.get(id).subgraphs[i]));
            m_edit.change(id).subgraphs[i] = std::move(inner.graph);
        }
        return {};
    }

    /// The region's operands; those that it writes to are copied first.
    Result<std::vector<Argument>> operandsOf(NodeId region, const Node& node)
    {
        if (node.isOp(kModuleTarget)) {
            std::vector<Argument> all;
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) { all.emplace_back(ref); });
            return all;
        }
        const auto* operands = node.args.size() == 2 ? node.args[0].value.asList() : nullptr;
        const auto* written = operands ? node.args[1].value.asList() : nullptr;
        if (!written || node.subgraphs.empty())
            return fail(ErrorCode::Internal, "a region lacks its arguments");
        std::vector<Argument> out = *operands;
        for (const Argument& position : *written) {
            const auto* index = position.asInt();
            if (!index || *index < 0 || std::size_t(*index) >= out.size())
                return fail(ErrorCode::Internal, "a region writes to what it does not have");
            Argument& operand = out[std::size_t(*index)];
            if (const auto* ref = operand.asRef())
                operand = copyOf(*ref, region, node);
        }
        return out;
    }

    ValueRef copyOf(ValueRef ref, NodeId before, const Node& region)
    {
        Node clone;
        clone.target = kCloneTarget;
        clone.name = operatorParts(kCloneTarget).word;
        clone.args.push_back({"self", ref});
        clone.scope = region.scope;
        clone.outputs.push_back({"", m_edit.get(ref.node).outputs.at(ref.index).type});
        return {place(std::move(clone), before), 0};
    }

    NodeId place(Node node, NodeId before)
    {
        node.id = {};
        const NodeId id = m_edit.insert(std::move(node), before);
        m_out.inPlace.insert(id);
        return id;
    }

    Result<void> inlineOne(NodeId id, const Node& region)
    {
        QS_TRY(const std::vector<Argument> operands, operandsOf(id, region));
        const Graph& inner = *region.subgraphs[0];
        const auto inputs = inner.inputs();
        if (inputs.size() != operands.size())
            return fail(ErrorCode::Internal, "a region's arguments do not fit its graph");
        Outside outside;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            outside[{inputs[i]->id, 0}] = operands[i];
        for (const NodePtr& node : inner.nodes()) {
            if (node->kind == NodeKind::Input || node->kind == NodeKind::Output)
                continue;
            Node copy = *node;
            copy.args = mapRefs(copy.args, [&](ValueRef ref) { return outside.at(ref); });
            const NodeId made = place(std::move(copy), id);
            for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
                outside[{node->id, i}] = ValueRef {made, i};
        }
        return reconnect(id, region, inner, outside);
    }

    Result<void> reconnect(NodeId id, const Node& region, const Graph& inner,
                           const Outside& outside)
    {
        const auto& returned = inner.output().args;
        for (std::uint32_t i = 0; i < region.outputs.size() && i < returned.size(); ++i) {
            const Argument value
                = mapRefs(returned[i].value, [&](ValueRef ref) { return outside.at(ref); });
            if (!value.asRef())
                return fail(ErrorCode::Unsupported, "a region returns a constant");
            m_edit.replaceUses({id, i}, *value.asRef());
        }
        m_edit.erase(id);
        return {};
    }

    GraphEdit m_edit;
    InlinedGraph m_out;
};

} // namespace

Result<InlinedGraph> inlineRegions(const Graph& graph)
{
    const auto nodes = graph.nodes();
    if (std::none_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
            return isInlined(*node) || !node->subgraphs.empty();
        }))
        return InlinedGraph {std::make_shared<const Graph>(graph), {}};
    return RegionInliner(graph).run();
}

Result<GraphPtr> withoutRegions(const Graph& graph)
{
    QS_TRY(InlinedGraph inlined, inlineRegions(graph));
    return std::move(inlined.graph);
}

} // namespace qs
