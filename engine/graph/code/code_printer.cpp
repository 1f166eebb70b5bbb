// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_printer.h"

#include "engine/graph/bodies.h"
#include "engine/graph/code/code_modules.h"
#include "engine/graph/code/code_namer.h"
#include "engine/graph/code/module_code.h"
#include "engine/graph/code/number_attributes.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/operators/tuple_ops.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/graph/text/text_literals.h"

#include <algorithm>

namespace qs {

namespace {

std::string callText(const Node& node)
{
    if (node.target.starts_with("_operator."))
        return node.target.substr(1);
    const bool python = node.target.starts_with("math.") || node.target.starts_with("torch.")
        || node.target.starts_with("builtins.");
    return python ? node.target : "torch.ops." + node.target;
}

bool isDequantize(const Node& node)
{
    return isQuantizing(node) && node.target.find(".dequantize") != std::string::npos;
}

/// The quantized type that an integer type stores: "quint8" for uint8.
std::string quantizedName(DType dtype)
{
    switch (dtype) {
    case DType::UInt8:
        return "quint8";
    case DType::Int8:
        return "qint8";
    case DType::Int32:
        return "qint32";
    default:
        return std::string(dtypeName(dtype));
    }
}

class CodePrinter
{
public:
    CodePrinter(const Graph& graph, const CodeContext& context, const Graph* modules = nullptr)
        : m_graph(graph)
        , m_context(context)
        , m_names(graph, context)
        , m_modules(graph, context, modules)
    {
    }

    std::vector<CodeLine> print()
    {
        std::string head = "def forward(self";
        for (const Node* input : m_graph.inputs())
            for (std::uint32_t i = 0; i < input->outputs.size(); ++i)
                head += ", " + m_names.of({input->id, i});
        std::vector<NodeId> inputs;
        for (const Node* input : m_graph.inputs())
            inputs.push_back(floatNodeOf(*input));
        for (const CodeStatement& statement : m_names.statements())
            printStatement(statement);
        release();
        std::vector<CodeLine> out = m_modules.lines();
        out.push_back({"", {}});
        out.push_back({head + "):", std::move(inputs)});
        out.insert(out.end(), std::make_move_iterator(m_lines.begin()),
                   std::make_move_iterator(m_lines.end()));
        return out;
    }

private:
    void addLine(std::string text, const std::vector<NodeId>& nodes, std::vector<std::string> reads)
    {
        m_lines.push_back({"    " + std::move(text), nodes});
        m_reads.push_back(std::move(reads));
    }

    std::string argumentText(const Argument& argument, std::vector<std::string>& reads) const
    {
        if (const ValueRef* ref = argument.asRef()) {
            reads.push_back(m_names.of(*ref));
            return reads.back();
        }
        if (const auto* list = argument.asList()) {
            std::string out = "[";
            for (std::size_t i = 0; i < list->size(); ++i)
                out += (i ? ", " : "") + argumentText((*list)[i], reads);
            return out + "]";
        }
        return printArgument(m_graph, argument);
    }

    /// Prints operands by position and settings by name, so that an omitted default does not shift
    /// the rest.
    std::string argumentsText(const Node& node, std::vector<std::string>& reads) const
    {
        const ParameterNames* own = m_names.parameters(node);
        std::string out;
        bool named = false;
        for (const auto& argument : node.args) {
            bool isOperand = argument.value.isNone();
            forEachRef(argument.value, [&](ValueRef) { isOperand = true; });
            const std::string* attribute = own && isScale(argument.name) ? &own->scale
                : own && isZeroPoint(argument.name)                      ? &own->zeroPoint
                                                                         : nullptr;
            isOperand = isOperand || (attribute && !named);
            named = named || !isOperand || !isIdentifier(argument.name);
            out += out.empty() ? "" : ", ";
            if (named && isIdentifier(argument.name))
                out += argument.name + " = ";
            if (attribute) {
                reads.push_back(*attribute);
                out += *attribute;
            } else {
                out += argumentText(argument.value, reads);
            }
        }
        return out;
    }

    /// torch.ao chooses the parameters and quantizes in one function.
    static std::string dynamicText(const Node& quantize, const Node& choice,
                                   const std::string& input)
    {
        const auto number = [](const Node& node, std::string_view name) {
            const Argument* argument = node.tryArg(name);
            return argument && argument->asInt() ? *argument->asInt() : 0;
        };
        const Argument* dtype = quantize.tryArg("dtype");
        const bool reduces = number(choice, "quant_max") < number(quantize, "quant_max");
        return "torch." + std::string(kDynamicQuantize) + "(" + input + ", torch."
            + (dtype && dtype->asDType() ? quantizedName(*dtype->asDType()) : "quint8")
            + (reduces ? ", True)" : ", False)");
    }

    /// torch.ao's text for a quantize with attributes and for its dequantize; empty for other
    /// nodes. The reference and lowered forms print the same text, though their operators differ.
    std::string quantizingText(const Node& node, std::vector<std::string>& reads) const
    {
        const ValueRef* input = node.args.empty() ? nullptr : node.args[0].value.asRef();
        if (!input)
            return {};
        const Node& maker = m_graph.get(input->node);
        if (isDequantize(node)
            && (m_names.parameters(maker) || choiceOf(m_graph, maker)
                || node.isOp(kDequantizeTensor))) {
            reads.push_back(m_names.of(*input));
            return reads.back() + ".dequantize()";
        }
        if (const Node* choice = choiceOf(m_graph, node)) {
            reads = {m_names.of(*input)};
            return dynamicText(node, *choice, reads[0]);
        }
        const ParameterNames* own = m_names.parameters(node);
        const Argument* dtype = node.tryArg("dtype");
        if (!own || !isQuantize(node) || !dtype || !dtype->asDType())
            return {};
        reads = {m_names.of(*input), own->scale, own->zeroPoint};
        std::string text = "torch." + targetBase(node.target) + "(" + reads[0] + ", " + reads[1]
            + ", " + reads[2];
        if (const Argument* axis = node.tryArg("axis"))
            text += ", " + printArgument(m_graph, *axis);
        return text + ", torch." + quantizedName(*dtype->asDType()) + ")";
    }

    /// `lstm[0]` and `tuple([a, b])`, as torch.fx prints them; empty for other nodes.
    std::string tupleText(const Node& node, std::vector<std::string>& reads) const
    {
        if (isTupleNode(node))
            return "tuple(" + argumentText(node.args[0].value, reads) + ")";
        const auto item = getItemOf(node);
        if (!item)
            return {};
        reads.push_back(m_names.of(item->container));
        return reads.back() + "[" + std::to_string(item->index) + "]";
    }

    /// Arguments of a module's forward: the activations that its nodes read from outside.
    std::string operandsText(const CodeStatement& statement, std::vector<std::string>& reads) const
    {
        std::string out;
        std::vector<ValueRef> seen;
        const auto isInside = [&](NodeId id) {
            return std::any_of(statement.nodes.begin(), statement.nodes.end(),
                               [id](const Node* node) { return node->id == id; });
        };
        for (const Node* node : statement.nodes)
            for (const auto& argument : node->args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    if (isInside(ref.node)
                        || std::find(seen.begin(), seen.end(), ref) != seen.end())
                        return;
                    seen.push_back(ref);
                    reads.push_back(m_names.of(ref));
                    out += (out.empty() ? "" : ", ") + reads.back();
                });
        return out;
    }

    std::string resultText(const Node& node) const
    {
        std::string out = m_names.of({node.id, 0});
        for (std::uint32_t i = 1; i < node.outputs.size(); ++i)
            out += ", " + m_names.of({node.id, i});
        return out;
    }

    void printStatement(const CodeStatement& statement)
    {
        const Node& node = *statement.root;
        const std::vector<NodeId> origins = originsOf(statement);
        const std::string result = resultText(statement.result()) + " = ";
        std::vector<std::string> reads;
        std::string text;
        switch (statement.kind) {
        case CodeStatement::Kind::Attribute:
            addLine(m_names.stored(node) + " = " + attributeText(node.target), origins, {});
            return;
        case CodeStatement::Kind::PackedWeight:
            addLine(result + "self." + m_names.of({node.id, 0}), origins, {});
            return;
        case CodeStatement::Kind::WeightObserver: {
            const std::string& name = m_names.of({node.id, 0});
            m_modules.addObserver(name, m_context.observedWeights.at({node.id, 0}),
                                  floatNodeOf(node));
            addLine(name + " = self." + name + "(" + m_names.stored(node) + ")", origins,
                    {m_names.stored(node)});
            return;
        }
        case CodeStatement::Kind::Module:
            m_modules.add(statement);
            text = result + attributeText(statement.path()) + "(" + operandsText(statement, reads)
                + ")";
            break;
        case CodeStatement::Kind::Return:
            addLine(returnText(node), origins, {});
            return;
        case CodeStatement::Kind::Function:
            if (isObserver(node)) {
                const std::string& name = m_names.of({node.id, 0});
                if (isDequantStub(node))
                    m_modules.addStub(name, floatNodeOf(node));
                else
                    m_modules.addObserver(name, node.observer, floatNodeOf(node));
                text = result + "self." + name + "(" + argumentsText(node, reads) + ")";
                break;
            }
            printAttributes(node, origins);
            text = quantizingText(node, reads);
            if (text.empty())
                text = tupleText(node, reads);
            if (text.empty())
                text = callText(node) + "(" + argumentsText(node, reads) + ")";
            printBodies(node, origins, text);
            text.insert(0, result);
            break;
        }
        addLine(text, origins, std::move(reads));
    }

    /// Prints each body as a function before the call, and names these functions in `call`.
    void printBodies(const Node& node, const std::vector<NodeId>& origins, std::string& call)
    {
        for (std::size_t i = 0; i < node.subgraphs.size(); ++i) {
            const std::string name = bodyFunction(
                node, i, node.outputs.empty() ? node.name : m_names.of({node.id, 0}));
            for (const std::string& line : bodyCode(*node.subgraphs[i], name))
                addLine(line, origins, {});
            const std::string argument = quotedLiteral("subgraph:" + std::to_string(i));
            if (const auto at = call.find(argument); at != std::string::npos)
                call.replace(at, argument.size(), name);
        }
    }

    /// `conv_scale_0 = self.conv_scale_0`, before the node that takes it.
    void printAttributes(const Node& node, const std::vector<NodeId>& origins)
    {
        const ParameterNames* own = m_names.parameters(node);
        if (!own)
            return;
        for (const std::string& name : {own->scale, own->zeroPoint})
            addLine(name + " = self." + name, origins, {});
    }

    std::vector<NodeId> originsOf(const CodeStatement& statement) const
    {
        std::vector<NodeId> out;
        const Graph& model = m_context.model ? *m_context.model : m_graph;
        const auto add = [&](NodeId id) {
            if (model.tryGet(id) && std::find(out.begin(), out.end(), id) == out.end())
                out.push_back(id);
        };
        if (statement.fusion >= 0)
            for (NodeId id : m_context.fusions[std::size_t(statement.fusion)].members)
                add(id);
        for (const Node* node : statement.nodes)
            add(floatNodeOf(*node));
        return out;
    }

    std::string returnText(const Node& node) const
    {
        std::vector<std::string> ignored;
        if (node.args.size() == 1)
            return "return " + argumentText(node.args[0].value, ignored);
        std::string out;
        for (const auto& argument : node.args)
            out += (out.empty() ? "" : ", ") + argumentText(argument.value, ignored);
        return "return (" + out + ")";
    }

    /// `; x = y = None` after the last use, as torch.fx frees values. Returned values are not
    /// freed.
    void release()
    {
        std::unordered_set<std::string> later;
        for (const auto& argument : m_graph.output().args)
            forEachRef(argument.value, [&](ValueRef ref) { later.insert(m_names.of(ref)); });
        for (std::size_t i = m_reads.size(); i-- > 0;) {
            std::string freed;
            for (const std::string& name : m_reads[i])
                if (later.insert(name).second)
                    freed += name + " = ";
            if (!freed.empty())
                m_lines[i].text += ";  " + freed + "None";
        }
    }

    const Graph& m_graph;
    const CodeContext& m_context;
    CodeNamer m_names;
    CodeModuleTree m_modules;
    std::vector<CodeLine> m_lines;
    std::vector<std::vector<std::string>> m_reads; ///< names that each line reads
};

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
        std::string operator()(const std::string& v) const { return quotedLiteral(v); }
        std::string operator()(DType v) const { return "torch." + std::string(dtypeName(v)); }
        std::string operator()(const Device& v) const
        {
            return "torch.device(" + quotedLiteral(v.text()) + ")";
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

std::vector<CodeLine> codeLines(const Graph& graph, const CodeContext& context)
{
    return CodePrinter(graph, context).print();
}

std::vector<CodeLine> moduleCodeLines(const Graph& graph, const CodeContext& context,
                                      const Graph& modules)
{
    return CodePrinter(graph, context, &modules).print();
}

std::string printCode(const Graph& graph, const CodeContext& context)
{
    std::string out;
    for (const CodeLine& line : codeLines(graph, context))
        out += line.text + "\n";
    return out;
}

} // namespace qs
