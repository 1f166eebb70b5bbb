// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/source/wrap_function.h"

#include "engine/graph/source_frames.h"

#include <algorithm>
#include <string_view>

namespace qs {

namespace {

std::size_t indentOf(std::string_view line)
{
    return std::min(line.find_first_not_of(" \t"), line.size());
}

/// Returns "forward" for "    def forward(self, x):".
std::string definedIn(std::string_view line)
{
    line.remove_prefix(indentOf(line));
    constexpr std::string_view kDef = "def ";
    if (!line.starts_with(kDef))
        return {};
    line.remove_prefix(kDef.size());
    return std::string(line.substr(0, line.find_first_of("( :")));
}

/// True if the operator was made in the module's function, or in one that it called.
bool isMadeIn(const Node& node, const std::string& function)
{
    const auto functions = functionsOfCaller(node.source, 0);
    return std::ranges::find(functions, function) != functions.end();
}

} // namespace

std::string functionAround(const std::vector<std::string>& lines, std::size_t row)
{
    if (row >= lines.size())
        return {};
    std::size_t indent = indentOf(lines[row]) + 1; // a `def` line belongs to its function
    for (std::size_t i = row + 1; i-- > 0;) {
        const std::string& line = lines[i];
        if (indentOf(line) == line.size() || indentOf(line) >= indent)
            continue;
        if (const std::string name = definedIn(line); !name.empty())
            return name;
        if (i != row)
            indent = indentOf(line); // an outer block, or the class
    }
    return {};
}

std::string wrapKeyOf(const Graph& graph, const std::string& file, const std::string& function,
                      NodeId near)
{
    const auto keyOf = [&function](const Node& node) {
        return function == "forward" ? node.scope.path : node.scope.path + "::" + function;
    };
    const Node* selected = graph.tryGet(near);
    const Node* first = nullptr;
    for (const NodePtr& node : graph.nodes()) {
        // A torch.nn layer has the source line of its caller.
        if (!node->isOperator() || node->source.file != file || !isMadeIn(*node, function)
            || node->scope.moduleClass.starts_with("torch.nn."))
            continue;
        if (selected && node->scope.path == selected->scope.path)
            return keyOf(*node);
        first = first ? first : node.get();
    }
    return first ? keyOf(*first) : std::string();
}

} // namespace qs
