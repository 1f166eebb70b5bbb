// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/value_keys.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/graph_printer.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

bool passesOn(const Node& node)
{
    return node.isOp(kObserveTarget) || node.isOp(kStubTarget);
}

/// Nodes that give the values of other float nodes than themselves, with those: a convolution gives
/// the value of the batch norm folded into it.
std::map<NodeId, std::set<NodeId>> standIns(const PreparedModel& prepared)
{
    std::map<NodeId, std::set<NodeId>> found;
    for (const auto& [floatValue, value] : prepared.valueOf)
        if (floatValue.node != value.node)
            found[value.node].insert(floatValue.node);
    return found;
}

class Maker
{
public:
    explicit Maker(const PreparedModel& prepared)
        : m_prepared(prepared)
        , m_graph(*prepared.graph)
        , m_standIns(standIns(prepared))
    {
    }

    std::unordered_map<ValueRef, Key> run()
    {
        for (const NodePtr& node : m_graph.nodes())
            add(*node);
        return std::move(m_keys);
    }

private:
    void add(const Node& node)
    {
        if (passesOn(node)) {
            m_keys[{node.id, 0}] = m_keys.at(*node.args.at(0).value.asRef());
            return;
        }
        KeyBuilder key(nodeKindName(node.kind));
        key.add(node.target);
        if (node.isStored()) {
            key.add(m_graph.info().sha256).add(node.name);
            if (node.origin)
                addFolding(key, node.id);
        }
        for (const NamedArgument& argument : node.args)
            addArgument(key.add(argument.name), argument.value);
        for (const auto& body : node.subgraphs)
            key.add(printGraph(*body));
        if (const auto it = m_standIns.find(node.id); it != m_standIns.end())
            for (const NodeId id : it->second)
                key.add(m_prepared.model->get(id).name);
        const Key whole = key.key();
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            m_keys[{node.id, i}] = i == 0 ? whole : whole + "." + std::to_string(i);
    }

    void addArgument(KeyBuilder& key, const Argument& argument) const
    {
        if (const ValueRef* ref = argument.asRef()) {
            key.add(m_keys.at(*ref));
        } else if (const auto* list = argument.asList()) {
            key.add("[").add(std::int64_t(list->size()));
            for (const Argument& item : *list)
                addArgument(key, item);
        } else {
            key.add(printArgument(m_graph, argument));
        }
    }

    /// A folded parameter is what it was and the norms folded into its reader.
    void addFolding(KeyBuilder& key, NodeId parameter) const
    {
        std::set<NodeId> seen {parameter};
        std::vector<NodeId> open {parameter};
        while (!open.empty()) {
            const NodeId at = open.back();
            open.pop_back();
            for (const Use& use : m_graph.users({at, 0})) {
                if (!seen.insert(use.node).second)
                    continue;
                const auto folded = m_standIns.find(use.node);
                if (folded == m_standIns.end()) {
                    open.push_back(use.node);
                    continue;
                }
                for (const NodeId id : folded->second)
                    key.add("folded").add(m_prepared.model->get(id).name);
                return;
            }
        }
    }

    const PreparedModel& m_prepared;
    const Graph& m_graph;
    std::map<NodeId, std::set<NodeId>> m_standIns;
    std::unordered_map<ValueRef, Key> m_keys;
};

} // namespace

ValueKeys::ValueKeys(const PreparedModel& prepared)
    : m_keys(Maker(prepared).run())
{
}

std::unordered_map<ObserverId, Key> observedKeys(const PreparedModel& prepared)
{
    const ValueKeys keys(prepared);
    std::unordered_map<ObserverId, std::vector<Key>> seen;
    for (const NodePtr& node : prepared.graph->nodes())
        if (passesOn(*node))
            seen[node->observer].push_back(keys.of({node->id, 0}));
    std::unordered_map<ObserverId, Key> found;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        KeyBuilder key("observed");
        const auto weight = prepared.observedWeight.find(observer.id);
        if (!observer.interior.empty()) {
            key.add(observer.interior).add(std::int64_t(observer.id.value()));
            if (prepared.graph->tryGet(observer.weightOwner))
                key.add(keys.of({observer.weightOwner, 0}));
        } else if (weight != prepared.observedWeight.end()) {
            key.add("weight").add(keys.of(weight->second));
        } else {
            for (const Key& value : seen[observer.id])
                key.add(value);
        }
        found[observer.id] = key.key();
    }
    return found;
}

} // namespace qs
