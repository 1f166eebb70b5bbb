// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/node_titles.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

constexpr const char* kBetween = " · ";
constexpr const char* kFused = " + ";

std::vector<std::string> components(const std::string& path)
{
    std::vector<std::string> out;
    std::size_t from = 0;
    while (from < path.size()) {
        const auto dot = std::min(path.find('.', from), path.size());
        out.push_back(path.substr(from, dot - from));
        from = dot + 1;
    }
    return out;
}

/// True if the path's last part is a word, not an index in a Sequential.
bool isNamedModule(const std::string& path, const std::string& common)
{
    const std::string last = lastPart(path);
    return path != common && !last.empty() && !isNumber(last);
}

} // namespace

std::string commonPath(const std::string& a, const std::string& b)
{
    const auto left = components(a), right = components(b);
    std::string out;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()) && left[i] == right[i]; ++i)
        out += (out.empty() ? "" : ".") + left[i];
    return out;
}

bool isNumber(const std::string& text)
{
    return !text.empty()
        && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

NodeTitles::NodeTitles(const Graph& graph)
    : m_graph(graph)
{
    std::unordered_map<std::string, int> seen;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && !node->scope.path.empty())
            if (const int place = ++seen[node->scope.path + ' ' + shortOpName(node->target)];
                place > 1)
                m_place.emplace(node->id, place);
}

std::string NodeTitles::operatorText(const Node& node) const
{
    const auto found = m_place.find(node.id);
    return shortOpName(node.target)
        + (found == m_place.end() ? "" : " " + std::to_string(found->second));
}

std::string NodeTitles::of(const Node& node) const
{
    if (node.kind == NodeKind::Input || node.isStored())
        return node.target.empty() ? node.name : node.target;
    if (!node.isOperator())
        return node.name;
    if (!node.scope.path.empty())
        return node.scope.path + kBetween + operatorText(node);
    const std::string op = shortOpName(node.target);
    return node.name.starts_with(op) ? node.name : op + kBetween + node.name;
}

std::string NodeTitles::partText(const Node& node, const std::string& common) const
{
    return isNamedModule(node.scope.path, common) ? lastPart(node.scope.path)
                                                  : shortOpName(node.target);
}

std::string NodeTitles::of(std::span<const NodeId> members) const
{
    if (members.empty())
        return {};
    const Node& first = m_graph.get(members.front());
    if (members.size() == 1)
        return of(first);
    std::string common = first.scope.path;
    for (const NodeId id : members)
        common = commonPath(common, m_graph.get(id).scope.path);
    std::string out;
    if (isNamedModule(first.scope.path, common)) {
        const std::string op = operatorText(first);
        out = first.scope.path + op.substr(shortOpName(first.target).size());
    } else if (const std::string& path = common.empty() ? first.scope.path : common;
               !path.empty()) {
        out = path + kBetween + operatorText(first);
    } else {
        out = of(first);
    }
    std::string previous = partText(first, common);
    for (const NodeId id : members.subspan(1)) {
        const std::string part = partText(m_graph.get(id), common);
        if (part != previous)
            out += kFused + part;
        previous = part;
    }
    return out;
}

std::string nodeTitle(const Graph& graph, NodeId node)
{
    const Node* found = graph.tryGet(node);
    return found ? NodeTitles(graph).of(*found) : std::string();
}

} // namespace qs
