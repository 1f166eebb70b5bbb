// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/block_neighbours.h"

#include "engine/base/text.h"
#include "engine/graph/text/node_titles.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// Splits "block12" into "block" and "12".
std::pair<std::string, std::string> withNumber(const std::string& name)
{
    const auto end = name.find_last_not_of("0123456789");
    const std::size_t digits = end == std::string::npos ? 0 : end + 1;
    return {name.substr(0, digits), name.substr(digits)};
}

/// Returns the innermost module around both: "" for "convs.0" and "norms.5".
std::string around(const std::string& first, const std::string& last)
{
    return commonPath(ModuleTree::parentPath(first), ModuleTree::parentPath(last));
}

/// Returns "0–11 ×12", "block1–3 ×3", "stem–tail ×3" or "convs.0–norms.5 ×6".
std::string rangeText(const std::string& first, const std::string& last, std::size_t count)
{
    const bool beside = ModuleTree::parentPath(first) == ModuleTree::parentPath(last);
    const std::string parent = around(first, last);
    const std::size_t inside = parent.empty() ? 0 : parent.size() + 1;
    const std::string from = beside ? lastPart(first) : first.substr(inside);
    const std::string to = beside ? lastPart(last) : last.substr(inside);
    const auto [name, number] = withNumber(from);
    const auto [lastName, lastNumber] = withNumber(to);
    const bool counted = beside && name == lastName && !number.empty() && !lastNumber.empty();
    return from + "–" + (counted ? lastNumber : to) + " ×" + std::to_string(count);
}

} // namespace

std::string runLabel(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = lastPart(around(first, last));
    const bool bare = withNumber(lastPart(first)).first.empty();
    return (bare && !parent.empty() ? parent + "." : "") + rangeText(first, last, count);
}

std::string runKey(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = around(first, last);
    return (parent.empty() ? "" : parent + ".") + rangeText(first, last, count);
}

bool isBlock(const FoldEntry& entry)
{
    return entry.wrap.empty()
        && (entry.isModule() || (entry.kind == FoldEntry::Kind::Unit && entry.members.size() > 1));
}

TurnLists findTurnLists(const Graph& graph)
{
    struct Runs
    {
        std::size_t first = 0, last = 0, operators = 0;
        bool holdsOnly = true; ///< no operators outside its parts, no part is called twice
    };
    std::map<std::string, Runs> runs;
    std::size_t position = 0;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        const Scope& scope = node->scope;
        for (std::string path = scope.path; !path.empty(); path = ModuleTree::parentPath(path)) {
            const auto [it, fresh] = runs.emplace(path, Runs {position, 0, 0, true});
            it->second.last = position;
            ++it->second.operators;
            it->second.holdsOnly &= path != scope.path && scope.callIndex == 0;
        }
        ++position;
    }
    TurnLists out;
    for (const auto& [path, run] : runs)
        if (run.holdsOnly && run.last - run.first + 1 > run.operators)
            out.insert(path);
    return out;
}

std::vector<int> partsOf(const FoldTree& tree, int parent, const TurnLists& lists)
{
    std::vector<int> out;
    for (const int child : tree.entry(parent).children) {
        const FoldEntry& entry = tree.entry(child);
        if (entry.isModule() && entry.wrap.empty() && lists.contains(entry.path)) {
            const auto inside = partsOf(tree, child, lists);
            out.insert(out.end(), inside.begin(), inside.end());
        } else {
            out.push_back(child);
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [&tree](int a, int b) { return tree.entry(a).order < tree.entry(b).order; });
    return out;
}

std::vector<std::string> modulesOfEntry(const Graph& graph, const FoldTree& tree, int index,
                                        const TurnLists& lists)
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
        std::size_t end = std::min(scope.path.find('.', start), scope.path.size());
        while (end < scope.path.size() && lists.contains(scope.path.substr(0, end)))
            end = std::min(scope.path.find('.', end + 1), scope.path.size());
        std::string own = scope.path.substr(0, end);
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
