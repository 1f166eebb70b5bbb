// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_printer.h"
#include "engine/graph/text_literals.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace qs {

namespace {

bool isIdentifier(std::string_view text)
{
    return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]))
        && std::all_of(text.begin(), text.end(), [](char c) {
               return c == '_' || std::isalnum(static_cast<unsigned char>(c));
           });
}

/// `self.layer1.0.conv` is no Python: `getattr(self.layer1, "0").conv` is.
std::string attributeText(const std::string& path)
{
    std::string out = "self";
    std::size_t at = 0;
    while (at <= path.size()) {
        const auto dot = std::min(path.find('.', at), path.size());
        const std::string part = path.substr(at, dot - at);
        out = isIdentifier(part) ? out + "." + part : "getattr(" + out + ", " + quoted(part) + ")";
        at = dot + 1;
    }
    return out;
}

std::string callText(const Node& node)
{
    const bool python = node.target.starts_with("_operator.") || node.target.starts_with("math.")
        || node.target.starts_with("torch.") || node.target.starts_with("builtins.");
    if (node.target.starts_with("_operator."))
        return node.target.substr(1);
    return python ? node.target : "torch.ops." + node.target;
}

std::string argumentsText(const Graph& graph, const Node& node)
{
    // Operands by position, settings by name: a setting left at its default does not shift the
    // rest.
    std::string out;
    bool named = false;
    for (const auto& arg : node.args) {
        bool hasRef = false;
        forEachRef(arg.value, [&](ValueRef) { hasRef = true; });
        named = named || !(hasRef || arg.value.isNone()) || !isIdentifier(arg.name);
        if (!out.empty())
            out += ", ";
        if (named && isIdentifier(arg.name))
            out += arg.name + " = ";
        out += printArgument(graph, arg.value);
    }
    return out;
}

std::string resultText(const Node& node)
{
    std::string out;
    for (const auto& value : node.outputs)
        out += (out.empty() ? "" : ", ") + value.name;
    return out.empty() ? node.name : out;
}

/// Names whose last reader is the node: `;  x = y = None`, as FX frees them.
std::unordered_map<NodeId, std::string> releases(const Graph& graph)
{
    std::unordered_map<NodeId, std::string> out;
    for (const auto& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
            const auto uses = graph.users({node->id, i});
            if (!uses.empty() && graph.get(uses.back().node).kind != NodeKind::Output)
                out[uses.back().node] += node->outputs[i].name + " = ";
        }
    return out;
}

std::string lineOf(const Graph& graph, const Node& node)
{
    switch (node.kind) {
    case NodeKind::Input:
        return {};
    case NodeKind::Parameter:
    case NodeKind::Constant:
        return resultText(node) + " = " + attributeText(node.target);
    case NodeKind::Op:
    case NodeKind::ModuleCall:
        return resultText(node) + " = " + callText(node) + "(" + argumentsText(graph, node) + ")";
    case NodeKind::Output: {
        std::string out = "return (";
        for (const auto& arg : node.args)
            out += printArgument(graph, arg.value) + (node.args.size() == 1 ? "," : ", ");
        if (node.args.size() > 1)
            out.resize(out.size() - 2);
        return out + ")";
    }
    }
    return {};
}

} // namespace

std::string printArgument(const Graph& graph, const Argument& argument)
{
    struct Visitor
    {
        const Graph& graph;
        std::string operator()(std::monostate) const { return "None"; }
        std::string operator()(ValueRef ref) const { return graph.value(ref).name; }
        std::string operator()(bool v) const { return v ? "True" : "False"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return doubleText(v); }
        std::string operator()(const std::string& v) const { return quoted(v); }
        std::string operator()(DType v) const { return "torch." + std::string(dtypeName(v)); }
        std::string operator()(const Device& v) const
        {
            return "torch.device(" + quoted(v.text()) + ")";
        }
        std::string operator()(const LayoutTag& v) const { return "torch." + v.name; }
        std::string operator()(const MemoryFormatTag& v) const { return "torch." + v.name; }
        std::string operator()(const ComplexNumber& v) const
        {
            return "complex(" + doubleText(v.real) + ", " + doubleText(v.imaginary) + ")";
        }
        std::string operator()(const Argument::List& items) const
        {
            std::string out = "[";
            for (std::size_t i = 0; i < items.size(); ++i)
                out += (i ? ", " : "") + printArgument(graph, items[i]);
            return out + "]";
        }
    };
    return std::visit(Visitor {graph}, argument.value);
}

std::string printCode(const Graph& graph)
{
    std::string out = "def forward(self";
    for (const Node* input : graph.inputs())
        out += ", " + input->name;
    out += "):\n";
    const auto freed = releases(graph);
    SourceLocation last;
    for (const auto& node : graph.nodes()) {
        const std::string line = lineOf(graph, *node);
        if (line.empty())
            continue;
        if (node->source.line > 0 && !(node->source == last)) {
            last = node->source;
            out += "    # " + last.file + ":" + std::to_string(last.line) + " in " + last.function
                + ": " + last.code + "\n";
        }
        out += "    " + line;
        if (const auto it = freed.find(node->id); it != freed.end())
            out += ";  " + it->second + "None";
        out += "\n";
    }
    return out;
}

} // namespace qs
