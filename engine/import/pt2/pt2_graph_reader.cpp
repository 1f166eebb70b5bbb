// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_graph_reader.h"

#include "engine/base/text.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/scalar_ops.h"
#include "engine/execute/op_table.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/pt2/pt2_schema.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int kMaxGraphDepth = 32;
constexpr std::string_view kCallMethodTarget = "higher_order.call_torchbind";
/// Maximum bytes of an argument kept in the file's spelling.
constexpr std::size_t kLongestArgument = 200;

Error badGraph(const std::string& what, const std::string& node)
{
    return makeError(ErrorCode::BadInput, what).atNode(node);
}

/// Returns the operator called through a higher-order node, for messages; else the node's own.
std::string calledOperator(const Node& node)
{
    const std::string* first = node.args.empty() ? nullptr : node.args[0].value.asString();
    return first && node.target.starts_with("higher_order.") && first->starts_with("torch.ops.")
        ? targetName(*first)
        : node.target;
}

/// Removes the wrapper module that a strict export adds to module names inside subgraphs.
std::string withoutExportRoot(const std::string& path)
{
    constexpr std::string_view kRoot = "_export_root";
    if (path == kRoot)
        return {};
    return path.starts_with(std::string(kRoot) + ".") ? path.substr(kRoot.size() + 1) : path;
}

/// Argument positions of the subgraph and the first operand (or list of operands) of a wrapper that
/// does not change values.
struct Wrapped
{
    std::size_t graph;
    std::size_t operands;
    bool isList = false;
};

std::optional<Wrapped> wrappedGraph(const Pt2NodeSpec& spec)
{
    static constexpr std::array<std::pair<std::string_view, Wrapped>, 6> kWrappers {{
        {"higher_order.wrap_with_set_grad_enabled", {1, 2}},
        {"higher_order.wrap_with_autocast", {4, 5}},
        {"higher_order.tag_activation_checkpoint", {0, 1}},
        {"higher_order.invoke_subgraph", {0, 2}},
        {"higher_order.strict_mode", {0, 1, true}},
        {"higher_order.hints_wrapper", {0, 1, true}},
    }};
    for (const auto& [name, places] : kWrappers) {
        if (name != spec.target || spec.inputs.size() < places.operands)
            continue;
        if (places.graph == 4) { // enabled autocast changes values
            const auto [tag, enabled] = unionOf(spec.inputs[2].at("arg"));
            if (tag != "as_bool" || enabled.boolean())
                return std::nullopt;
        }
        return places;
    }
    return std::nullopt;
}

/// Returns the record of a subgraph for the writer: whether it returns a single tensor, and its
/// tables of sizes.
std::string subgraphRecord(JsonView graph)
{
    std::string kept = R"({"is_single_tensor_return":)";
    kept += graph.boolean("is_single_tensor_return", false) ? "true" : "false";
    for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"}) {
        const auto entries = graph.find(table);
        kept.append(",\"").append(table).append("\":").append(entries ? entries->dump() : "{}");
    }
    return kept + "}";
}

/// Looks names up; remembers the last undeclared one.
class NameLookup : public ArgumentScope
{
public:
    explicit NameLookup(const NameScope& names)
        : m_names(names)
    {
    }
    Argument value(std::string_view name) override
    {
        if (const auto it = m_names.find(name); it != m_names.end())
            return it->second;
        m_missing = name;
        return {};
    }
    Argument subgraph(JsonView) override { return {}; }
    /// Fails if a lookup found no name.
    Result<void> check(const std::string& node) const
    {
        if (m_missing.empty())
            return {};
        return fail(
            badGraph("the value '" + std::string(m_missing) + "' is used before it is made", node));
    }

private:
    const NameScope& m_names;
    std::string_view m_missing;
};

/// Also resolves subgraphs among the arguments of a node.
template<class ReadSubgraph>
class NodeLookup : public NameLookup
{
public:
    NodeLookup(const NameScope& names, ReadSubgraph readSubgraph)
        : NameLookup(names)
        , m_readSubgraph(std::move(readSubgraph))
    {
    }
    Argument subgraph(JsonView held) override { return m_readSubgraph(held); }

private:
    ReadSubgraph m_readSubgraph;
};

/// Replaces a method call of a C++ class, `call_torchbind(object, "dense", ...)`, by the method's
/// operator; opaque if no library registered the class.
void respellMethod(const GraphEdit& edit, Node& node)
{
    const ValueRef* object = node.args.empty() ? nullptr : node.args[0].value.asRef();
    const std::string* method = node.args.size() < 2 ? nullptr : node.args[1].value.asString();
    if (!object || !method)
        return;
    const std::string& className = edit.get(object->node).outputs.at(object->index).type.className;
    const auto target = classMethodTarget(findForeignClass(className), *method);
    const auto op = target ? findOperator(*target) : std::nullopt;
    if (!op) {
        node.opaqueReason = "it calls " + *method + " of the class " + plainClassName(className)
            + ", which no loaded extension pack registers";
        return;
    }
    node.target = *target;
    node.args.erase(node.args.begin() + 1);
    const auto& slots = op->schema().arguments();
    for (std::size_t i = 0; i < node.args.size() && i < slots.size(); ++i)
        if (node.args[i].name.empty() || i == 0)
            node.args[i].name = slots[i].name();
}

void readOutputs(const Pt2FileGraph& graph, const Pt2NodeSpec& spec, Node& node,
                 std::vector<std::string_view>& fileNames)
{
    for (const JsonView output : spec.outputs)
        for (const auto& declared : schemaOutputs(output)) {
            Value value;
            value.name = declared.name;
            value.type = graph.typeOf(declared.name, declared.kind);
            value.type.className = declared.className;
            fileNames.push_back(declared.name);
            node.outputs.push_back(std::move(value));
        }
    node.name = spec.name;
    if (node.name.empty() && !node.outputs.empty())
        node.name = node.outputs[0].name;
    if (node.outputs.size() == 1)
        node.outputs[0].name = node.name;
}

} // namespace

Result<Argument> Pt2GraphReader::argument(JsonView value, const NameScope& names)
{
    std::string problem;
    NameLookup scope(names);
    Argument read = schemaArgument(value, scope, problem);
    QS_CHECK(scope.check(""));
    if (!problem.empty())
        return fail(badGraph(problem, ""));
    return read;
}

Result<Argument> Pt2GraphReader::valueOf(std::string_view name, const NameScope& names)
{
    NameLookup scope(names);
    Argument value = scope.value(name);
    QS_CHECK(scope.check(""));
    return value;
}

Result<void> Pt2GraphReader::readArguments(const Pt2NodeSpec& spec, const NameScope& names,
                                           Node& node, int depth)
{
    std::string problem;
    Result<void> nested;
    NodeLookup scope(names, [&](JsonView held) -> Argument {
        auto made = subgraph(Pt2FileGraph(held.at("graph")), depth + 1);
        if (!made) {
            nested = fail(std::move(made).error());
            return {};
        }
        for (const ModuleEntry* module : (*made)->modules().inOrder())
            m_edit.modules().add(module->path, module->moduleClass);
        node.subgraphs.push_back(std::move(*made));
        return std::string(kSubgraphPrefix) + std::to_string(node.subgraphs.size() - 1);
    });
    node.args.reserve(spec.inputs.size());
    for (const JsonView input : spec.inputs)
        node.args.push_back(
            {std::string(input.text("name", "")), schemaArgument(input.at("arg"), scope, problem)});
    QS_CHECK(nested);
    QS_CHECK(scope.check(node.name));
    if (node.target == kCallMethodTarget)
        respellMethod(m_edit, node);
    if (!problem.empty())
        node.opaqueReason = problem;
    else if (!node.opaqueReason.empty())
        ;
    else if (!node.subgraphs.empty())
        node.opaqueReason = "'" + node.target + "' runs subgraphs, which are kept as they are";
    else if (!findOperator(node.target) && !isScalarOp(node.target) && !isHigherOrder(node.target))
        node.opaqueReason = "operator '" + calledOperator(node) + "' is unknown to this LibTorch";
    if (!node.opaqueReason.empty())
        for (const JsonView input : spec.inputs)
            node.argumentStrings.push_back(shortened(input.at("arg").dump(), kLongestArgument));
    return {};
}

void Pt2GraphReader::readMetadata(const Pt2NodeSpec& spec, Node& node)
{
    auto levels = parseModuleStack(spec.moduleStack);
    for (Scope& level : levels) {
        level.path = withoutExportRoot(level.path);
        m_edit.modules().add(level.path, level.moduleClass);
    }
    if (!levels.empty())
        node.scope = levels.back();
    node.source = parseStackTrace(spec.stackTrace);
    // "conv2d_1;builtin_function_or_method.conv2d": the function follows the semicolon.
    node.torchFn = spec.torchFn.substr(spec.torchFn.find(';') + 1);
}

/// "hardswish_1;function.hardswish": the call precedes the semicolon.
void Pt2GraphReader::noteCall(const Pt2NodeSpec& spec, NodeId id)
{
    if (const auto at = spec.torchFn.find(';'); at != std::string_view::npos)
        m_calls[id] = spec.torchFn.substr(0, at);
}

Result<std::shared_ptr<const Graph>> Pt2GraphReader::subgraph(const Pt2FileGraph& graph, int depth)
{
    if (depth > kMaxGraphDepth)
        return fail(badGraph("subgraphs are nested too deeply", ""));
    GraphEdit edit;
    edit.setTensors(m_edit.tensors());
    Pt2GraphReader reader(edit, m_job);
    NameScope names;
    for (const JsonView input : graph.json().at("inputs").items())
        for (const auto& declared : schemaOutputs(input)) {
            Node node;
            node.kind = NodeKind::Input;
            node.name = node.target = declared.name;
            node.outputs.push_back({node.name, graph.typeOf(declared.name, declared.kind)});
            names[declared.name] = ValueRef {edit.insert(std::move(node)), 0};
        }
    QS_CHECK(reader.readNodes(graph, names, depth));
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    for (const JsonView output : graph.json().at("outputs").items()) {
        QS_TRY(Argument value, argument(output, names));
        out.args.push_back({"", std::move(value)});
    }
    edit.insert(std::move(out));
    ModelInfo info;
    info.exportRecord = subgraphRecord(graph.json());
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

Result<bool> Pt2GraphReader::inlineWrapper(const Pt2NodeSpec& spec, NameScope& names, int depth)
{
    const auto at = wrappedGraph(spec);
    if (!at)
        return false;
    const auto& inputs = spec.inputs;
    const auto [tag, held] = unionOf(inputs[at->graph].at("arg"));
    if (tag != "as_graph")
        return false;
    const Pt2FileGraph inner(held.at("graph"));
    NameScope innerNames;
    Argument::List operands;
    const std::size_t end = at->isList ? std::min(at->operands + 1, inputs.size()) : inputs.size();
    for (std::size_t i = at->operands; i < end; ++i) {
        QS_TRY(Argument operand, argument(inputs[i].at("arg"), names));
        if (at->isList && operand.asList())
            operands = Argument::List(*operand.asList());
        else
            operands.push_back(std::move(operand));
    }
    std::size_t next = 0;
    for (const JsonView input : inner.json().at("inputs").items()) {
        if (next < operands.size())
            for (const auto& declared : schemaOutputs(input))
                innerNames[declared.name] = operands[next];
        ++next;
    }
    QS_CHECK(readNodes(inner, innerNames, depth + 1));
    std::vector<std::string_view> made;
    for (const JsonView output : spec.outputs)
        for (const auto& declared : schemaOutputs(output))
            made.push_back(declared.name);
    auto name = made.begin();
    for (const JsonView result : inner.json().at("outputs").items())
        if (name != made.end()) {
            QS_TRY(names[*name++], argument(result, innerNames));
        }
    return true;
}

Result<void> Pt2GraphReader::readNode(const Pt2FileGraph& graph, const Pt2NodeSpec& spec,
                                      NameScope& names, int depth)
{
    if (spec.target == "higher_order.with_effects")
        return readNode(graph, spec.withoutToken(), names, depth);
    // Skips printing: it does not affect results, and standard output belongs to the program.
    if (hasTrait(spec.target, OperatorTrait::Asserts)
        || hasTrait(spec.target, OperatorTrait::Prints) || spec.target == "higher_order.print")
        return {};
    QS_TRY(const bool inlined, inlineWrapper(spec, names, depth));
    if (inlined)
        return {};
    Node node;
    node.target = spec.target;
    std::vector<std::string_view> fileNames;
    readOutputs(graph, spec, node, fileNames);
    QS_CHECK(readArguments(spec, names, node, depth));
    readMetadata(spec, node);
    const NodeId id = m_edit.insert(std::move(node));
    noteCall(spec, id);
    for (std::size_t i = 0; i < fileNames.size(); ++i)
        if (!fileNames[i].empty())
            names[fileNames[i]] = ValueRef {id, std::uint32_t(i)};
    return {};
}

Result<void> Pt2GraphReader::readNodes(const Pt2FileGraph& graph, NameScope& names, int depth)
{
    if (depth > kMaxGraphDepth)
        return fail(badGraph("subgraphs are nested too deeply", ""));
    for (const JsonView node : graph.json().at("nodes").items()) {
        QS_CHECK(m_job.check());
        try {
            QS_CHECK(readNode(graph, Pt2NodeSpec::read(node), names, depth));
        } catch (const JsonShapeError& error) {
            return fail(
                badGraph(schemaProblem(error.what()), std::string(Pt2NodeSpec::nameOf(node))));
        }
    }
    return {};
}

} // namespace qs
