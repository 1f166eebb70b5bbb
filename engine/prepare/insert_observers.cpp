// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/insert_observers.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/prepare/weighted_op.h"

#include <optional>

namespace qs {

namespace {

class ObserverInserter
{
public:
    ObserverInserter(GraphEdit& edit, const ValueMap& valueOf)
        : m_edit(edit)
        , m_valueOf(valueOf)
    {
        for (NodeId id : edit.order()) {
            if (const Node& node = edit.get(id);
                node.isOperator() || node.kind == NodeKind::Output) {
                m_firstOp = id;
                break;
            }
        }
    }

    Result<void> onValue(const PlannedObserver& observer, const ObservedEdge& edge)
    {
        QS_TRY(const ValueRef value, live(edge.value));
        const ValueRef seen = insert(observer, edge.value, value);
        m_edit.replaceUses(value, seen, {seen.node});
        m_observed[edge.value] = seen;
        return {};
    }

    Result<void> onReaders(const PlannedObserver& observer, const ObservedEdge& edge)
    {
        QS_TRY(const ValueRef value, live(edge.value));
        const auto it = m_observed.find(edge.value);
        const ValueRef from = it == m_observed.end() ? value : it->second;
        std::optional<ValueRef> seen;
        for (const Use& use : edge.readers) {
            const Node* reader = m_edit.tryGet(use.node);
            if (!reader || use.argument >= reader->args.size())
                continue;
            if (!seen)
                seen = insert(observer, edge.value, from);
            m_edit.replaceArgument(use.node, use.argument, from, *seen);
        }
        return {};
    }

private:
    Result<ValueRef> live(ValueRef floatValue) const
    {
        const auto it = m_valueOf.find(floatValue);
        if (it == m_valueOf.end() || !m_edit.contains(it->second.node))
            return fail(ErrorCode::Internal, "the plan observes a value that fusion removed");
        return it->second;
    }

    ValueRef insert(const PlannedObserver& observer, ValueRef floatValue, ValueRef value)
    {
        const Node& producer = m_edit.get(value.node);
        Node node;
        // The value was already observed inside the custom module.
        const bool stub = !observer.interior.empty();
        node.name = stub ? "dequant_stub_" + std::to_string(m_stubs++)
                         : "activation_post_process_" + std::to_string(m_count++);
        node.target = std::string(stub ? kStubTarget : kObserveTarget);
        node.args.push_back({"input", value});
        node.outputs.push_back({"", producer.outputs.at(value.index).type});
        node.scope = producer.scope;
        node.origin = floatValue.node;
        node.observer = observer.id;
        if (!producer.isOperator())
            return {m_edit.insert(std::move(node), m_firstOp), 0};
        if (producer.outputs.size() == 1)
            return {m_edit.insertAfter(std::move(node), producer.id), 0};
        // Observers of several results follow the order of the results.
        NodeId& last = m_lastAfter.try_emplace(producer.id, producer.id).first->second;
        last = m_edit.insertAfter(std::move(node), last);
        return {last, 0};
    }

    GraphEdit& m_edit;
    const ValueMap& m_valueOf;
    NodeId m_firstOp;
    std::unordered_map<ValueRef, ValueRef> m_observed; ///< float value to its observer's output
    std::unordered_map<NodeId, NodeId> m_lastAfter; ///< producer to its last observer
    int m_count = 0, m_stubs = 0;
};

} // namespace

ValueMap identityMap(const Graph& graph)
{
    ValueMap map;
    for (const NodePtr& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            map[{node->id, i}] = {node->id, i};
    return map;
}

Result<std::unordered_map<ObserverId, ValueRef>> observedWeights(const GraphEdit& edit,
                                                                 const Plan& plan)
{
    std::unordered_map<ObserverId, ValueRef> weights;
    for (const PlannedObserver& observer : plan.observers) {
        if (!observer.isWeight)
            continue;
        const Node* owner = edit.tryGet(observer.weightOwner);
        const auto op = owner ? weightedOp(*owner) : std::nullopt;
        ValueRef weight;
        if (op)
            weight = argumentRef(*owner, op->weight);
        else if (owner && !observer.edges.empty())
            weight = observer.edges.front()
                         .value; // one of several weights; nothing is folded into these
        else if (owner)
            weight = argumentRef(*owner, "weight");
        if (!weight || !edit.contains(weight.node))
            return fail(makeError(ErrorCode::Internal, "the plan observes a weight it has not")
                            .atNode(owner ? owner->name : std::string()));
        weights[observer.id] = weightPath(edit, weight).source;
    }
    return weights;
}

Result<bool> insertObservers(GraphEdit& edit, const Plan& plan, const ValueMap& valueOf,
                             const JobContext& job)
{
    ObserverInserter inserter(edit, valueOf);
    bool changed = false;
    for (const bool generic : {true, false})
        for (const PlannedObserver& observer : plan.observers) {
            QS_CHECK(job.check());
            if (observer.isWeight)
                continue;
            for (const ObservedEdge& edge : observer.edges) {
                if (edge.readers.empty() != generic)
                    continue;
                QS_CHECK(generic ? inserter.onValue(observer, edge)
                                 : inserter.onReaders(observer, edge));
                changed = true;
            }
        }
    return changed;
}

} // namespace qs
