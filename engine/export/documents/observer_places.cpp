// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/observer_places.h"

namespace qs {

std::vector<InputRef> inputRefs(const Node& node)
{
    std::vector<InputRef> refs;
    for (std::uint32_t i = 0; i < node.args.size(); ++i)
        forEachRef(node.args[i].value, [&](ValueRef ref) { refs.push_back({ref, i}); });
    return refs;
}

ObserverPlaces::ObserverPlaces(const Graph& graph, const Plan& plan)
{
    for (const auto& observer : plan.observers)
        for (const auto& edge : observer.edges)
            if (!observer.isWeight && edge.readers.empty())
                m_primary.emplace(edge.value, observer.id);
    std::unordered_set<NodeId> floats; // quantized nodes whose result is float
    for (const MatchGroup& group : plan.groups)
        if (group.floatResult)
            floats.insert(group.members.back());
    for (const auto& observer : plan.observers)
        for (const auto& edge : observer.edges)
            if (!observer.isWeight && !floats.contains(edge.value.node))
                m_primary.emplace(edge.value, observer.id);
    std::unordered_map<NodeId, std::size_t> weights, interiors; // seen so far, by owner
    for (const auto& observer : plan.observers) {
        if (!observer.interior.empty())
            add(graph,
                {ObserverPlace::Kind::Interior, observer.id, observer.weightOwner,
                 interiors[observer.weightOwner]++});
        if (observer.isWeight) {
            add(graph,
                {ObserverPlace::Kind::Weight, observer.id, observer.weightOwner,
                 weights[observer.weightOwner]++});
            continue;
        }
        for (const auto& edge : observer.edges) {
            const auto primary = m_primary.find(edge.value);
            if (primary != m_primary.end() && primary->second == observer.id)
                add(graph,
                    {ObserverPlace::Kind::Output, observer.id, edge.value.node, edge.value.index});
            else
                placeReaders(graph, observer, edge);
        }
    }
}

void ObserverPlaces::placeReaders(const Graph& graph, const PlannedObserver& observer,
                                  const ObservedEdge& edge)
{
    for (const Use& use : edge.readers) {
        const auto refs = inputRefs(graph.get(use.node));
        for (std::size_t i = 0; i < refs.size(); ++i)
            if (refs[i].value == edge.value && refs[i].argument == use.argument)
                add(graph, {ObserverPlace::Kind::Input, observer.id, use.node, i});
    }
}

void ObserverPlaces::add(const Graph& graph, ObserverPlace place)
{
    if (!m_at.emplace(Key {place.kind, place.node, place.index}, place.observer).second)
        return;
    if (place.kind == ObserverPlace::Kind::Output)
        m_withOutput.insert(place.node);
    const auto [it, isNew] = m_first.emplace(place.observer, place.node);
    if (!isNew && graph.position(place.node) < graph.position(it->second))
        it->second = place.node;
    m_places.push_back(place);
}

ObserverId ObserverPlaces::find(ObserverPlace::Kind kind, NodeId node, std::size_t index) const
{
    const auto it = m_at.find({kind, node, index});
    return it == m_at.end() ? ObserverId {} : it->second;
}

bool ObserverPlaces::hasOutput(NodeId node) const
{
    return m_withOutput.contains(node);
}

NodeId ObserverPlaces::firstNode(ObserverId observer) const
{
    const auto it = m_first.find(observer);
    return it == m_first.end() ? NodeId {} : it->second;
}

} // namespace qs
