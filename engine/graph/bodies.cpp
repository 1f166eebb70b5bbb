// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/bodies.h"

#include "engine/graph/code/code_printer.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace qs {

namespace {

struct Titles
{
    std::string_view target;
    std::array<std::string_view, 2> bodies;
};

constexpr std::array<Titles, 8> kTitles {{{"higher_order.cond", {"if true", "otherwise"}},
                                          {kIfTarget, {"if true", "otherwise"}},
                                          {"higher_order.while_loop", {"while", "do"}},
                                          {kLoopTarget, {"do", ""}},
                                          {"higher_order.wrap_with_autocast", {"autocast", ""}},
                                          {kRegionTarget, {"region", ""}},
                                          {kModuleTarget, {"inside", ""}},
                                          {kRecurTarget, {"each step", ""}}}};

} // namespace

std::string bodyTitle(const Node& node, std::size_t index)
{
    for (const Titles& row : kTitles)
        if (node.target == row.target && index < row.bodies.size() && !row.bodies[index].empty())
            return std::string(row.bodies[index]);
    if (node.kind == NodeKind::ModuleCall && index == 0)
        return "forward";
    if (index < node.subgraphs.size() && !node.subgraphs[index]->info().name.empty())
        return node.subgraphs[index]->info().name;
    return node.subgraphs.size() == 1 ? "body" : "body " + std::to_string(index + 1);
}

std::size_t operatorCount(const Graph& graph)
{
    const auto nodes = graph.nodes();
    return std::size_t(std::count_if(nodes.begin(), nodes.end(),
                                     [](const NodePtr& node) { return node->isOperator(); }));
}

std::string bodyFunction(const Node& node, std::size_t index, const std::string& nodeName)
{
    std::string name = nodeName + "_" + bodyTitle(node, index);
    for (char& c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

std::vector<std::string> bodyCode(const Graph& body, const std::string& functionName)
{
    static const std::string kHead = "def forward(self";
    std::vector<std::string> lines;
    for (const CodeLine& line : codeLines(body)) {
        if (!lines.empty()) {
            lines.push_back(line.text);
        } else if (line.text.starts_with(kHead)) { // lines before it are the module list
            std::string rest = line.text.substr(kHead.size());
            if (rest.starts_with(", "))
                rest.erase(0, 2);
            lines.push_back("def " + functionName + "(" + rest);
        }
    }
    return lines;
}

} // namespace qs
