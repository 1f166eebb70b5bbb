// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/data_movement.h"

#include "engine/plan/module_statistics.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <set>
#include <utility>

namespace qs {

namespace {

/// The readers that get a value as integers.
struct Observed
{
    bool forAll = false;
    std::vector<NodeId> readers;
};

class CrossingFinder
{
public:
    CrossingFinder(const Graph& graph, const Plan& plan)
        : m_graph(graph)
        , m_plan(plan)
    {
        for (const PlannedObserver& observer : plan.observers) {
            if (observer.isWeight || !observer.interior.empty()
                || !isIntegerDType(observer.spec.dtype))
                continue;
            for (const ObservedEdge& edge : observer.edges) {
                Observed& observed = m_observed[edge.value];
                observed.forAll = observed.forAll || edge.readers.empty();
                for (const Use& use : edge.readers)
                    observed.readers.push_back(use.node);
            }
        }
    }

    std::vector<Crossing> find() const
    {
        std::vector<Crossing> out;
        for (const NodePtr& node : m_graph.nodes())
            for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
                if (const auto it = m_observed.find({node->id, i}); it != m_observed.end())
                    add(*node, i, it->second, out);
        return out;
    }

private:
    void add(const Node& node, std::uint32_t index, const Observed& observed,
             std::vector<Crossing>& out) const
    {
        const ValueRef value {node.id, index};
        const bool made = isQuantizedIn(m_graph, m_plan, node.id) && observed.forAll;
        Crossing crossing {value, {}, made, floatBytes(m_graph.value(value).type)};
        for (const Use& use : m_graph.users(value)) {
            const bool taken = isQuantizedIn(m_graph, m_plan, use.node)
                && (observed.forAll
                    || std::find(observed.readers.begin(), observed.readers.end(), use.node)
                        != observed.readers.end());
            if (taken != made)
                crossing.readers.push_back(use.node);
        }
        if (!crossing.readers.empty())
            out.push_back(std::move(crossing));
    }

    static std::int64_t floatBytes(const ValueType& type)
    {
        return elementsOf(type).value_or(0) * std::int64_t(sizeof(float));
    }

    const Graph& m_graph;
    const Plan& m_plan;
    std::unordered_map<ValueRef, Observed> m_observed;
};

} // namespace

DataMovement::DataMovement(const Graph& graph, const Plan& plan)
{
    for (Crossing& crossing : CrossingFinder(graph, plan).find())
        keep(std::move(crossing));
}

void DataMovement::keep(Crossing crossing)
{
    const std::size_t index = m_crossings.size();
    if (!crossing.toFloat)
        m_causedBy[crossing.value.node].push_back(index);
    else
        for (const NodeId reader : crossing.readers)
            if (auto& own = m_causedBy[reader]; own.empty() || own.back() != index)
                own.push_back(index);
    m_crossings.push_back(std::move(crossing));
}

MovedAmount DataMovement::whole() const
{
    MovedAmount amount {std::int64_t(m_crossings.size()), 0};
    for (const Crossing& crossing : m_crossings)
        amount.bytes += crossing.bytes;
    return amount;
}

MovedAmount DataMovement::causedBy(const Plan& plan, const NodePlan& node) const
{
    const std::vector<NodeId> members = node.group < 0
        ? std::vector<NodeId> {node.node}
        : plan.groups[std::size_t(node.group)].members;
    std::set<std::size_t> indices; // two of them may read the same value
    for (const NodeId member : members)
        if (const auto own = m_causedBy.find(member); own != m_causedBy.end())
            indices.insert(own->second.begin(), own->second.end());
    MovedAmount amount {std::int64_t(indices.size()), 0};
    for (const std::size_t index : indices)
        amount.bytes += m_crossings[index].bytes;
    return amount;
}

} // namespace qs
