// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/mutation_regions.h"

#include "engine/execute/control/higher_order.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/import/functionalize/alias_analysis.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

using Positions = std::set<std::size_t>;

/// Dependencies between nodes: data flow and, for memory changed in place, the order of its readers
/// and writers.
class Order
{
public:
    Order(const Graph& graph, const AliasSets& aliases)
        : m_before(graph.nodes().size())
    {
        for (std::size_t i = 0; i < graph.nodes().size(); ++i)
            for (const auto& arg : graph.nodes()[i]->args)
                forEachRef(arg.value, [&](ValueRef ref) { add(graph.position(ref.node), i); });
        std::unordered_set<const std::vector<ValueRef>*> done;
        for (const auto& node : graph.nodes())
            for (const std::size_t a : writtenArguments(*node))
                forEachRef(node->args[a].value, [&](ValueRef ref) {
                    const auto& members = aliases.members(ref);
                    if (done.insert(&members).second)
                        addMemoryOrder(graph, members);
                });
    }

    /// Returns all nodes within [first, last] that depend on one of `from`.
    Positions after(const Positions& from, std::size_t first, std::size_t last) const
    {
        Positions found;
        for (std::size_t i = first; i <= last; ++i)
            for (const std::size_t earlier : m_before[i])
                if (from.contains(earlier) || found.contains(earlier))
                    found.insert(i);
        return found;
    }
    /// Returns all nodes within [first, last] that one of `from` depends on.
    Positions before(const Positions& from, std::size_t first, std::size_t last) const
    {
        Positions found;
        for (std::size_t i = last + 1; i-- > first;)
            if (from.contains(i) || found.contains(i))
                for (const std::size_t earlier : m_before[i])
                    if (earlier >= first)
                        found.insert(earlier);
        return found;
    }

private:
    void add(std::size_t earlier, std::size_t later) { m_before[later].push_back(earlier); }

    void addMemoryOrder(const Graph& graph, const std::vector<ValueRef>& members)
    {
        Positions touching;
        for (const ValueRef& member : members) {
            touching.insert(graph.position(member.node));
            for (const Use& use : graph.users(member))
                touching.insert(graph.position(use.node));
        }
        for (const std::size_t i : touching) {
            const bool writes = !writtenArguments(*graph.nodes()[i]).empty();
            for (const std::size_t j : touching)
                if (j < i && (writes || !writtenArguments(*graph.nodes()[j]).empty()))
                    add(j, i);
        }
    }

    std::vector<std::vector<std::size_t>> m_before;
};

/// Builds one region for one changed piece of memory.
class RegionBuilder
{
public:
    RegionBuilder(const Graph& graph, const AliasSets& aliases, const Order& order,
                  ValueRef changed)
        : m_graph(graph)
        , m_memory(aliases.members(changed).begin(), aliases.members(changed).end())
        , m_order(order)
        , m_edit(graph)
    {
    }

    Graph build()
    {
        findMembers();
        Node region = regionNode();
        const NodeId start = m_graph.nodes()[m_first]->id;
        m_region = m_edit.insert(std::move(region), start);
        const Positions later = m_order.after(m_members, m_first, m_last);
        for (std::size_t i = m_first; i <= m_last; ++i)
            if (!m_members.contains(i) && !later.contains(i))
                m_edit.moveBefore(m_graph.nodes()[i]->id, m_region);
        rewireReaders(later);
        for (auto it = m_members.rbegin(); it != m_members.rend(); ++it)
            m_edit.erase(m_graph.nodes()[*it]->id);
        return m_edit.build();
    }

private:
    bool reads(const Node& node) const
    {
        bool found = false;
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef ref) { found = found || m_memory.contains(ref); });
        return found;
    }

    void findMembers()
    {
        // From the first view (or change) to the last change.
        m_first = m_graph.nodes().size();
        m_last = 0;
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            const Node& node = *m_graph.nodes()[i];
            if (node.kind != NodeKind::Op || !reads(node))
                continue;
            const bool makesView = !node.outputs.empty() && m_memory.contains({node.id, 0});
            const bool writes = writesHere(node);
            if (makesView || writes)
                m_first = std::min(m_first, i);
            if (writes)
                m_last = i;
        }
        for (std::size_t i = m_first; i <= m_last; ++i)
            if (m_graph.nodes()[i]->kind == NodeKind::Op && reads(*m_graph.nodes()[i]))
                m_members.insert(i);
        const Positions below = m_order.after(m_members, m_first, m_last);
        const Positions above = m_order.before(m_members, m_first, m_last);
        std::set_intersection(below.begin(), below.end(), above.begin(), above.end(),
                              std::inserter(m_members, m_members.end()));
    }

    bool writesHere(const Node& node) const
    {
        bool found = false;
        for (const std::size_t a : writtenArguments(node))
            forEachRef(node.args[a].value,
                       [&](ValueRef ref) { found = found || m_memory.contains(ref); });
        return found;
    }

    bool isInside(NodeId id) const { return m_members.contains(m_graph.position(id)); }

    /// True if the use reads the memory after the region.
    bool readsAfter(const Use& use) const
    {
        return !isInside(use.node) && m_graph.position(use.node) > m_first;
    }

    Node regionNode()
    {
        GraphEdit inner;
        inner.setTensors(m_graph.tensors());
        std::unordered_map<ValueRef, ValueRef> inside;
        Argument::List operands, written;
        for (const std::size_t i : m_members)
            for (const auto& arg : m_graph.nodes()[i]->args)
                forEachRef(arg.value, [&](ValueRef ref) {
                    if (isInside(ref.node) || inside.contains(ref))
                        return;
                    Node input;
                    input.kind = NodeKind::Input;
                    input.name = input.target = m_graph.value(ref).name;
                    input.outputs.push_back(m_graph.value(ref));
                    inside[ref] = {inner.insert(std::move(input)), 0};
                    if (m_memory.contains(ref)) {
                        written.emplace_back(std::int64_t(operands.size()));
                        m_bases.push_back(ref);
                    }
                    operands.emplace_back(ref);
                });
        for (const std::size_t i : m_members)
            copyInside(*m_graph.nodes()[i], inner, inside);
        Node region = labelled();
        region.args = {{"operands", std::move(operands)}, {"written", std::move(written)}};
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        for (const auto& [ref, value] : orderedResults(inside)) {
            out.args.push_back({"", value});
            m_results[ref] = std::uint32_t(region.outputs.size());
            region.outputs.push_back(m_graph.value(ref));
        }
        inner.insert(std::move(out));
        region.subgraphs.push_back(std::make_shared<const Graph>(inner.build()));
        return region;
    }

    Node labelled() const
    {
        Node region;
        region.name = "region";
        region.target = kRegionTarget;
        for (const std::size_t i : m_members) {
            const Node& node = *m_graph.nodes()[i];
            if (!writesHere(node))
                continue;
            region.scope = node.scope;
            region.source = node.source;
            region.originalTarget = node.target;
            region.opaqueReason = "'" + node.target
                + "' changes a tensor in place that is also seen through a view; kept as it is";
            break;
        }
        return region;
    }

    static void copyInside(const Node& node, GraphEdit& inner,
                           std::unordered_map<ValueRef, ValueRef>& inside)
    {
        Node copy = node;
        copy.id = {};
        copy.origin = node.id;
        copy.args = mapRefs(copy.args, [&](ValueRef ref) { return inside.at(ref); });
        const NodeId id = inner.insert(std::move(copy));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            inside[{node.id, i}] = {id, i};
    }

    /// Returns the values read after the region: results of its nodes, and changed operands.
    std::vector<std::pair<ValueRef, ValueRef>>
    orderedResults(const std::unordered_map<ValueRef, ValueRef>& inside) const
    {
        std::vector<std::pair<ValueRef, ValueRef>> found;
        for (const auto& [ref, value] : inside) {
            const bool isBase = std::find(m_bases.begin(), m_bases.end(), ref) != m_bases.end();
            if (!isBase && !isInside(ref.node))
                continue;
            const auto users = m_graph.users(ref);
            if (std::any_of(users.begin(), users.end(),
                            [&](const Use& use) { return readsAfter(use); }))
                found.emplace_back(ref, value);
        }
        std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
            return std::pair(m_graph.position(a.first.node), a.first.index)
                < std::pair(m_graph.position(b.first.node), b.first.index);
        });
        return found;
    }

    void rewireReaders(const Positions& later)
    {
        for (const auto& [ref, index] : m_results)
            for (const Use& use : m_graph.users(ref)) {
                const std::size_t at = m_graph.position(use.node);
                if (readsAfter(use) && (at > m_last || later.contains(at)))
                    m_edit.replaceArgument(use.node, use.argument, ref, {m_region, index});
            }
    }

    const Graph& m_graph;
    const std::unordered_set<ValueRef> m_memory;
    const Order& m_order;
    GraphEdit m_edit;
    std::size_t m_first = 0, m_last = 0;
    Positions m_members;
    std::vector<ValueRef> m_bases;
    std::unordered_map<ValueRef, std::uint32_t> m_results;
    NodeId m_region;
};

struct Writes
{
    ValueRef firstChanged; ///< invalid if the graph has no writes
    std::size_t last = 0; ///< position of the last node that writes
};

Writes writesOf(const Graph& graph)
{
    Writes found;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i)
        for (const std::size_t a : writtenArguments(*graph.nodes()[i]))
            forEachRef(graph.nodes()[i]->args[a].value, [&](ValueRef ref) {
                found = {found.firstChanged ? found.firstChanged : ref, i};
            });
    return found;
}

} // namespace

Result<Graph> foldMutationRegions(const Graph& given)
{
    Graph graph = given;
    for (Writes writes = writesOf(graph); writes.firstChanged; writes = writesOf(graph)) {
        // A list built after the last write does not alias the written value.
        const AliasSets aliases(graph, writes.last + 1);
        const Order order(graph, aliases);
        graph = RegionBuilder(graph, aliases, order, writes.firstChanged).build();
    }
    return graph;
}

} // namespace qs
