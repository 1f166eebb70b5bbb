// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/graph_printer.h"

#include "engine/graph/text/text_literals.h"

namespace qs {

namespace {

std::string argumentText(const Graph& graph, const Argument& argument)
{
    struct Visitor
    {
        const Graph& graph;
        std::string operator()(std::monostate) const { return "None"; }
        std::string operator()(ValueRef ref) const { return "%" + nameText(graph.value(ref).name); }
        std::string operator()(bool v) const { return v ? "True" : "False"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return doubleText(v); }
        std::string operator()(const std::string& v) const { return quotedLiteral(v); }
        std::string operator()(DType v) const { return "dtype(" + std::string(dtypeName(v)) + ")"; }
        std::string operator()(const Device& v) const
        {
            return "device(" + quotedLiteral(v.text()) + ")";
        }
        std::string operator()(const LayoutTag& v) const
        {
            return "layout(" + quotedLiteral(v.name) + ")";
        }
        std::string operator()(const MemoryFormatTag& v) const
        {
            return "memory_format(" + quotedLiteral(v.name) + ")";
        }
        std::string operator()(const ComplexNumber& v) const
        {
            return "complex(" + doubleText(v.real) + ", " + doubleText(v.imaginary) + ")";
        }
        std::string operator()(const Argument::List& items) const
        {
            std::string out = "[";
            for (std::size_t i = 0; i < items.size(); ++i)
                out += (i ? ", " : "") + argumentText(graph, items[i]);
            return out + "]";
        }
    };
    return std::visit(Visitor {graph}, argument.value);
}

std::string dimText(const Dim& dim)
{
    if (!dim.isSymbolic())
        return dim.size < 0 ? "?" : std::to_string(dim.size);
    return "{" + quotedLiteral(dim.symbol) + " " + std::to_string(dim.size) + " "
        + quotedLiteral(dim.expression) + "}";
}

std::string typeText(const ValueType& type)
{
    std::string out;
    switch (type.kind) {
    case ValueKind::Tensor:
        out = dtypeName(type.dtype);
        out += "[";
        if (!type.shapeKnown)
            out += "...";
        for (std::size_t i = 0; i < type.shape.size(); ++i)
            out += (i ? ", " : "") + dimText(type.shape[i]);
        out += "]";
        break;
    case ValueKind::SymInt:
        out = "SymInt";
        break;
    case ValueKind::SymFloat:
        out = "SymFloat";
        break;
    case ValueKind::SymBool:
        out = "SymBool";
        break;
    case ValueKind::Custom:
        out = "Custom";
        break;
    case ValueKind::Tuple:
        out = "Tuple";
        break;
    case ValueKind::None:
        out = "None";
        break;
    }
    if (type.device != Device())
        out += " device=" + quotedLiteral(type.device.text());
    if (!type.className.empty())
        out += " class=" + quotedLiteral(type.className);
    if (!type.expression.empty())
        out += " expression=" + quotedLiteral(type.expression);
    return out;
}

/// Returns the remaining facts as ` key=value`; omits defaults.
std::string factsText(const Node& node)
{
    std::string out;
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty())
            out += std::string(" ") + key + "=" + quotedLiteral(value);
    };
    const auto number = [&](const char* key, std::int64_t value) {
        if (value != 0)
            out += std::string(" ") + key + "=" + std::to_string(value);
    };
    text("scope", node.scope.path);
    text("class", node.scope.moduleClass);
    number("call", node.scope.callIndex);
    text("file", node.source.file);
    number("line", node.source.line);
    text("function", node.source.function);
    text("code", node.source.code);
    number("origin", node.origin.value());
    text("original", node.originalTarget);
    text("torch_fn", node.torchFn);
    number("tensor", node.tensor.value());
    number("buffer", node.isBuffer);
    number("persistent", node.persistentBuffer);
    number("observer", node.observer.value());
    text("opaque", node.opaqueReason);
    for (const auto& argument : node.argumentStrings)
        out += " argument=" + quotedLiteral(argument);
    return out;
}

void printInto(const Graph& graph, const std::string& indent, std::string& out)
{
    const ModelInfo& info = graph.info();
    out += indent + "graph name=" + quotedLiteral(info.name)
        + " format=" + quotedLiteral(info.format) + " producer=" + quotedLiteral(info.producer)
        + " sha256=" + quotedLiteral(info.sha256) + " inputs=" + quotedLiteral(info.inputTree)
        + " outputs=" + quotedLiteral(info.outputTree) + " converted="
        + (info.converted ? "1" : "0") + " next=" + std::to_string(graph.parts().nextId) + "\n";
    for (const ModuleEntry* module : graph.modules().inOrder()) {
        out += indent + "module " + quotedLiteral(module->path) + " "
            + quotedLiteral(module->moduleClass);
        for (const auto& parameter : module->parameters)
            out += " " + quotedLiteral(parameter);
        out += "\n";
    }
    for (const auto& node : graph.nodes()) {
        out += indent + "%" + nameText(node->name) + " #" + std::to_string(node->id.value()) + " = "
            + std::string(nodeKindName(node->kind)) + " " + quotedLiteral(node->target) + " (";
        for (std::size_t i = 0; i < node->args.size(); ++i)
            out += (i ? ", " : "") + nameText(node->args[i].name) + "="
                + argumentText(graph, node->args[i].value);
        out += ") -> (";
        for (std::size_t i = 0; i < node->outputs.size(); ++i)
            out += (i ? ", " : "") + nameText(node->outputs[i].name) + ": "
                + typeText(node->outputs[i].type);
        out += ")" + factsText(*node) + "\n";
        for (const auto& subgraph : node->subgraphs) {
            out += indent + "subgraph\n";
            printInto(*subgraph, indent + "  ", out);
            out += indent + "end\n";
        }
    }
}

} // namespace

std::string_view nodeKindName(NodeKind kind)
{
    switch (kind) {
    case NodeKind::Input:
        return "input";
    case NodeKind::Parameter:
        return "parameter";
    case NodeKind::Constant:
        return "constant";
    case NodeKind::Op:
        return "op";
    case NodeKind::ModuleCall:
        return "module_call";
    case NodeKind::Output:
        return "output";
    }
    return "?";
}

std::string printGraph(const Graph& graph)
{
    std::string out;
    printInto(graph, "", out);
    return out;
}

} // namespace qs
