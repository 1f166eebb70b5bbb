// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph.h"

#include "engine/base/memory/free_later.h"

#include <algorithm>
#include <cassert>

namespace qs {

struct Graph::Index
{
    static constexpr std::uint32_t kNowhere = ~0u;
    std::vector<std::uint32_t> positions; ///< indexed by id: ids are consecutive
    std::unordered_map<std::string_view, NodeId> names;
    std::unordered_map<ValueRef, std::vector<Use>> users;
    std::unordered_map<NodeId, std::size_t> userCounts;
    std::size_t outputPosition = std::size_t(-1);
    Parts parts; ///< parts of a large graph, freed with the index
};

namespace {

/// Deleting a graph with at least this many nodes takes milliseconds: `FreeLater` does it.
constexpr std::size_t kFreedLater = 2000;

} // namespace

Graph::Graph()
    : Graph(Parts {})
{
}

Graph::Graph(Parts parts)
    : m_parts(std::move(parts))
{
    if (!m_parts.modules)
        m_parts.modules = std::make_shared<ModuleTree>();
    if (!m_parts.info)
        m_parts.info = std::make_shared<ModelInfo>();
    const bool large = m_parts.nodes.size() >= kFreedLater;
    const std::shared_ptr<Index> index
        = large ? std::shared_ptr<Index>(makeFreedLater<Index>()) : std::make_shared<Index>();
    if (large)
        index->parts = m_parts;
    std::uint32_t last = 0;
    for (const NodePtr& node : m_parts.nodes)
        last = std::max(last, node->id.value());
    index->positions.assign(last + 1, Index::kNowhere);
    index->names.reserve(m_parts.nodes.size());
    index->users.reserve(m_parts.nodes.size());
    for (std::size_t i = 0; i < m_parts.nodes.size(); ++i) {
        const Node& node = *m_parts.nodes[i];
        index->positions[node.id.value()] = std::uint32_t(i);
        index->names.emplace(node.name, node.id);
        if (node.kind == NodeKind::Output)
            index->outputPosition = i;
        for (std::uint32_t a = 0; a < node.args.size(); ++a)
            forEachRef(node.args[a].value, [&](ValueRef ref) {
                auto& uses = index->users[ref];
                if (uses.empty() || uses.back() != Use {node.id, a})
                    uses.push_back({node.id, a});
                ++index->userCounts[ref.node];
            });
    }
    m_index = index;
}

Graph Graph::withInfo(ModelInfo info) const
{
    Graph made = *this;
    made.m_parts.info = std::make_shared<const ModelInfo>(std::move(info));
    return made;
}

const Node* Graph::tryGet(NodeId id) const
{
    const auto& positions = m_index->positions;
    const std::uint32_t at
        = id.value() < positions.size() ? positions[id.value()] : Index::kNowhere;
    return at == Index::kNowhere ? nullptr : m_parts.nodes[at].get();
}

const Node& Graph::get(NodeId id) const
{
    const Node* node = tryGet(id);
    assert(node);
    return *node;
}

const Node* Graph::tryFind(std::string_view name) const
{
    const auto it = m_index->names.find(name);
    return it == m_index->names.end() ? nullptr : tryGet(it->second);
}

std::size_t Graph::position(NodeId id) const
{
    assert(id.value() < m_index->positions.size());
    const std::uint32_t at = m_index->positions[id.value()];
    assert(at != Index::kNowhere);
    return at;
}

const Value& Graph::value(ValueRef ref) const
{
    return get(ref.node).outputs.at(ref.index);
}

std::span<const Use> Graph::users(ValueRef ref) const
{
    const auto it = m_index->users.find(ref);
    if (it == m_index->users.end())
        return {};
    return it->second;
}

std::size_t Graph::userCount(NodeId id) const
{
    const auto it = m_index->userCounts.find(id);
    return it == m_index->userCounts.end() ? 0 : it->second;
}

std::vector<const Node*> Graph::inputs() const
{
    std::vector<const Node*> found;
    for (const auto& node : m_parts.nodes)
        if (node->kind == NodeKind::Input)
            found.push_back(node.get());
    return found;
}

const Node& Graph::output() const
{
    assert(m_index->outputPosition < m_parts.nodes.size());
    return *m_parts.nodes[m_index->outputPosition];
}

} // namespace qs
