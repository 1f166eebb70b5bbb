// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/block_neighbours.h"

#include "engine/base/text.h"

#include <algorithm>

namespace qs {

namespace {

/// "block" and "12" of "block12".
std::pair<std::string, std::string> withNumber(const std::string& name)
{
    const auto end = name.find_last_not_of("0123456789");
    const std::size_t digits = end == std::string::npos ? 0 : end + 1;
    return {name.substr(0, digits), name.substr(digits)};
}

/// "0–11 ×12", "block1–3 ×3", "stem–tail ×3".
std::string rangeText(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string from = lastPart(first), to = lastPart(last);
    const auto [name, number] = withNumber(from);
    const auto [lastName, lastNumber] = withNumber(to);
    const bool counted = name == lastName && !number.empty() && !lastNumber.empty();
    return from + "–" + (counted ? lastNumber : to) + " ×" + std::to_string(count);
}

} // namespace

std::string runLabel(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = lastPart(ModuleTree::parentPath(first));
    const bool bare = withNumber(lastPart(first)).first.empty();
    return (bare && !parent.empty() ? parent + "." : "") + rangeText(first, last, count);
}

std::string runKey(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = ModuleTree::parentPath(first);
    return (parent.empty() ? "" : parent + ".") + rangeText(first, last, count);
}

bool isBlock(const FoldEntry& entry)
{
    return entry.wrap.empty()
        && (entry.isModule() || (entry.kind == FoldEntry::Kind::Unit && entry.members.size() > 1));
}

std::vector<std::string> modulesOfEntry(const Graph& graph, const FoldTree& tree, int index)
{
    const FoldEntry& entry = tree.entry(index);
    const bool named = entry.isModule() || entry.kind == FoldEntry::Kind::Unit;
    if (!named || !entry.wrap.empty() || entry.parent < 0)
        return {};
    if (!entry.path.empty() && tree.moduleEntry(entry.path) == index)
        return {entry.path};
    std::vector<std::string> out;
    const std::string parent = tree.entry(entry.parent).path;
    const std::size_t start = parent.empty() ? 0 : parent.size() + 1;
    for (const NodeId id : entry.members) {
        const Scope& scope = graph.get(id).scope;
        if (scope.callIndex > 0 || scope.path.size() <= start
            || !ModuleTree::isWithin(scope.path, parent))
            continue;
        std::string own = scope.path.substr(0, scope.path.find('.', start));
        if (std::find(out.begin(), out.end(), own) == out.end())
            out.push_back(std::move(own));
    }
    return out;
}

std::vector<NodeId> glueOf(const Graph& graph, const FoldTree& tree, int index)
{
    const FoldEntry& entry = tree.entry(index);
    std::vector<NodeId> out;
    if (entry.kind != FoldEntry::Kind::Unit || !entry.wrap.empty() || entry.parent < 0)
        return out;
    for (const NodeId id : entry.members) {
        const Scope& scope = graph.get(id).scope;
        if (scope.callIndex == 0 && scope.path == tree.entry(entry.parent).path)
            out.push_back(id);
    }
    return out;
}

BlockNeighbours::BlockNeighbours(const Graph& graph, const FoldTree& tree)
    : m_graph(graph)
    , m_tree(tree)
{
    std::size_t position = 0, most = 0;
    for (const auto& node : graph.nodes())
        most = std::max<std::size_t>(most, node->id.value());
    m_position.assign(most + 1, 0);
    m_owner.assign(most + 1, kOutside);
    for (const auto& node : graph.nodes())
        m_position[node->id.value()] = position++;
}

std::vector<std::span<const BlockEntries>>
BlockNeighbours::chains(std::span<const BlockEntries> blocks)
{
    std::vector<std::span<const BlockEntries>> out;
    for (std::size_t from = 0; from < blocks.size();) {
        const std::size_t length = chainLength(blocks.subspan(from));
        out.push_back(blocks.subspan(from, length));
        from += length;
    }
    return out;
}

std::size_t BlockNeighbours::chainLength(std::span<const BlockEntries> blocks)
{
    std::size_t first = m_graph.nodes().size(), last = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (const int entry : blocks[i])
            for (const NodeId id : m_tree.nodesOf(entry)) {
                m_owner[id.value()] = int(i);
                first = std::min(first, m_position[id.value()]);
                last = std::max(last, m_position[id.value()]);
            }
    std::size_t length = blocks.size();
    std::vector<char> linked(blocks.size(), 0);
    for (std::size_t at = first; at <= last && at < m_graph.nodes().size(); ++at) {
        const Node& node = *m_graph.nodes()[at];
        int& owner = m_owner[node.id.value()];
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef ref) {
                const int maker = m_owner[ref.node.value()];
                if (owner >= 0 && maker == owner - 1)
                    linked[std::size_t(owner)] = 1;
                else if (owner >= 0 && maker == kAfter)
                    length = std::min(length, std::size_t(owner));
                else if (owner < 0 && maker != kOutside)
                    owner = kAfter;
            });
    }
    for (std::size_t at = first; at <= last && at < m_graph.nodes().size(); ++at)
        m_owner[m_graph.nodes()[at]->id.value()] = kOutside;
    for (std::size_t i = 1; i < length; ++i)
        if (!linked[i])
            length = i;
    return std::max<std::size_t>(length, 1);
}

} // namespace qs
