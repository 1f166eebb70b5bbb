// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2_graph_reader.h"

#include "engine/execute/higher_order.h"
#include "engine/execute/op_table.h"
#include "engine/execute/scalar_ops.h"
#include "engine/import/pt2_metadata.h"
#include "engine/import/pt2_schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace qs {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 32;

/// Operators that only check their arguments.
bool isAssertion(const std::string& target)
{
    static constexpr std::array<std::string_view, 8> kAssertions {
        "aten._assert_tensor_metadata.",
        "aten._assert_scalar.",
        "aten._assert_async.",
        "aten._functional_assert_async.",
        "aten._functional_assert_scalar.",
        "aten.sym_constrain_range.",
        "aten.sym_constrain_range_for_size.",
        "aten._check"};
    return std::any_of(kAssertions.begin(), kAssertions.end(),
                       [&](std::string_view prefix) { return target.starts_with(prefix); });
}

Error badGraph(const std::string& what, const std::string& node)
{
    return makeError(ErrorCode::BadInput, what).atNode(node);
}

std::string shortened(std::string text)
{
    constexpr std::size_t kLongest = 200;
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

/// A call that was threaded on a token to keep its place among other effects, as the plain call it
/// stands for: nodes run in order here.
json withoutToken(const json& spec)
{
    const json& inputs = spec.at("inputs");
    json plain = spec;
    plain["inputs"] = json::array();
    for (std::size_t i = 2; i < inputs.size(); ++i)
        plain["inputs"].push_back(inputs[i]);
    const auto [tag, op] = unionOf(inputs.at(1).at("arg"));
    plain["target"] = *op;
    plain["outputs"] = json::array();
    for (std::size_t i = 1; i < spec.at("outputs").size(); ++i)
        if (const json& output = spec["outputs"][i]; unionOf(output).first != "as_none")
            plain["outputs"].push_back(output);
    return plain;
}

/// Printing takes no part in what a model computes, and standard output belongs to the program.
bool prints(const std::string& target)
{
    return target == "higher_order.print" || target.starts_with("aten._print.");
}

/// The operator that a node hands to another one that calls it, for people; else the node's own.
std::string calledOperator(const Node& node)
{
    const std::string* first = node.args.empty() ? nullptr : node.args[0].value.asString();
    return first && node.target.starts_with("higher_order.") && first->starts_with("torch.ops.")
        ? targetName(*first)
        : node.target;
}

/// Inside subgraphs a strict export names modules below a wrapper of its own.
std::string withoutExportRoot(const std::string& path)
{
    constexpr std::string_view kRoot = "_export_root";
    if (path == kRoot)
        return {};
    return path.starts_with(std::string(kRoot) + ".") ? path.substr(kRoot.size() + 1) : path;
}

/// Where a wrapper that changes no value has its subgraph and its first operand, or the list of
/// all.
struct Wrapped
{
    std::size_t graph;
    std::size_t operands;
    bool isList = false;
};

std::optional<Wrapped> wrappedGraph(const json& spec)
{
    static constexpr std::array<std::pair<std::string_view, Wrapped>, 6> kWrappers {{
        {"higher_order.wrap_with_set_grad_enabled", {1, 2}},
        {"higher_order.wrap_with_autocast", {4, 5}},
        {"higher_order.tag_activation_checkpoint", {0, 1}},
        {"higher_order.invoke_subgraph", {0, 2}},
        {"higher_order.strict_mode", {0, 1, true}},
        {"higher_order.hints_wrapper", {0, 1, true}},
    }};
    const std::string target = targetName(spec.at("target").get<std::string>());
    const json& inputs = spec.at("inputs");
    for (const auto& [name, places] : kWrappers) {
        if (name != target || inputs.size() < places.operands)
            continue;
        if (places.graph == 4) { // switched on, autocast does change values
            const auto [tag, enabled] = unionOf(inputs[2].at("arg"));
            if (tag != "as_bool" || enabled->get<bool>())
                return std::nullopt;
        }
        return places;
    }
    return std::nullopt;
}

/// What the writer needs back of a graph inside a node: whether it returns a lone tensor, the
/// tables of its sizes.
std::string subgraphRecord(const json& graph)
{
    json kept = {{"is_single_tensor_return", graph.value("is_single_tensor_return", false)}};
    for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"})
        kept[table] = graph.value(table, json::object());
    return kept.dump();
}

} // namespace

ValueType Pt2GraphReader::typeOf(const json& graph, const std::string& name, ValueKind kind)
{
    ValueType type;
    type.kind = kind;
    const auto find = [&](const char* table) -> const json* {
        const auto values = graph.find(table);
        if (values == graph.end() || !values->is_object())
            return nullptr;
        const auto it = values->find(name);
        return it == values->end() ? nullptr : &*it;
    };
    if (kind == ValueKind::Tensor) {
        if (const json* meta = find("tensor_values"))
            type = schemaTensorType(*meta);
        return type;
    }
    for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"})
        if (const json* value = find(table))
            if (const auto expr = value->find("as_expr"); expr != value->end())
                type.expression = expr->at("expr_str").get<std::string>();
    return type;
}

Result<Argument> Pt2GraphReader::argument(const json& value, const NameScope& names) const
{
    std::string problem, missing;
    ArgumentScope scope;
    scope.value = [&](const std::string& name) -> Argument {
        const auto it = names.find(name);
        if (it != names.end())
            return it->second;
        missing = name;
        return {};
    };
    scope.subgraph = [&](const json&) { return Argument(); };
    Argument read = schemaArgument(value, scope, problem);
    if (!missing.empty())
        return fail(badGraph("the value '" + missing + "' is used before it is made", ""));
    if (!problem.empty())
        return fail(badGraph(problem, ""));
    return read;
}

Result<void> Pt2GraphReader::readArguments(const json& spec, const NameScope& names, Node& node,
                                           int depth)
{
    std::string problem, missing;
    Error nested;
    bool failed = false;
    ArgumentScope scope;
    scope.value = [&](const std::string& name) -> Argument {
        const auto it = names.find(name);
        if (it != names.end())
            return it->second;
        missing = name;
        return {};
    };
    scope.subgraph = [&](const json& held) -> Argument {
        auto made = subgraph(held.at("graph"), depth + 1);
        if (!made) {
            nested = std::move(made).error();
            failed = true;
            return {};
        }
        for (const ModuleEntry* module : (*made)->modules().inOrder())
            m_edit.modules().add(module->path, module->moduleClass);
        node.subgraphs.push_back(std::move(*made));
        return std::string(kSubgraphPrefix) + std::to_string(node.subgraphs.size() - 1);
    };
    for (const auto& input : spec.at("inputs"))
        node.args.push_back(
            {input.value("name", ""), schemaArgument(input.at("arg"), scope, problem)});
    if (failed)
        return fail(std::move(nested));
    if (!missing.empty())
        return fail(badGraph("the value '" + missing + "' is used before it is made", node.name));
    const bool known
        = findOperator(node.target) || isScalarOp(node.target) || isHigherOrder(node.target);
    if (!problem.empty())
        node.opaqueReason = problem;
    else if (!node.subgraphs.empty())
        node.opaqueReason = "'" + node.target + "' runs subgraphs, which are kept as they are";
    else if (!known)
        node.opaqueReason = "operator '" + calledOperator(node) + "' is not known to this LibTorch";
    if (!node.opaqueReason.empty())
        for (const auto& input : spec.at("inputs"))
            node.argumentStrings.push_back(shortened(input.at("arg").dump()));
    return {};
}

void Pt2GraphReader::readOutputs(const json& graph, const json& spec, Node& node,
                                 std::vector<std::string>& fileNames) const
{
    for (const auto& output : spec.at("outputs"))
        for (const auto& declared : schemaOutputs(output)) {
            Value value;
            value.name = declared.name;
            value.type = typeOf(graph, declared.name, declared.kind);
            value.type.className = declared.className;
            fileNames.push_back(declared.name);
            node.outputs.push_back(std::move(value));
        }
    node.name = spec.value("name", json()).is_string() ? spec["name"].get<std::string>() : "";
    if (node.name.empty() && !node.outputs.empty())
        node.name = node.outputs[0].name;
    if (node.outputs.size() == 1)
        node.outputs[0].name = node.name;
}

void Pt2GraphReader::readMetadata(const json& spec, Node& node)
{
    const auto metadata = spec.find("metadata");
    if (metadata == spec.end() || !metadata->is_object())
        return;
    auto levels = parseModuleStack(metadata->value("nn_module_stack", ""));
    for (Scope& level : levels) {
        level.path = withoutExportRoot(level.path);
        m_edit.modules().add(level.path, level.moduleClass);
    }
    if (!levels.empty())
        node.scope = levels.back();
    node.source = parseStackTrace(metadata->value("stack_trace", ""));
    node.torchFn = metadata->value("torch_fn", "");
    // "conv2d_1;builtin_function_or_method.conv2d": what follows the semicolon is the function.
    if (const auto at = node.torchFn.find(';'); at != std::string::npos)
        node.torchFn = node.torchFn.substr(at + 1);
}

/// "hardswish_1;function.hardswish": what stands before the semicolon is the call.
void Pt2GraphReader::noteCall(const json& spec, NodeId id)
{
    const auto metadata = spec.find("metadata");
    if (metadata == spec.end() || !metadata->is_object())
        return;
    const std::string text = metadata->value("torch_fn", "");
    if (const auto at = text.find(';'); at != std::string::npos)
        m_calls[id] = text.substr(0, at);
}

Result<std::shared_ptr<const Graph>> Pt2GraphReader::subgraph(const json& graph, int depth)
{
    if (depth > kMaxDepth)
        return fail(badGraph("subgraphs are nested too deeply", ""));
    GraphEdit edit;
    edit.setTensors(m_edit.tensors());
    Pt2GraphReader reader(edit);
    NameScope names;
    for (const auto& input : graph.at("inputs"))
        for (const auto& declared : schemaOutputs(input)) {
            Node node;
            node.kind = NodeKind::Input;
            node.name = node.target = declared.name;
            node.outputs.push_back({declared.name, typeOf(graph, declared.name, declared.kind)});
            names[declared.name] = ValueRef {edit.insert(std::move(node)), 0};
        }
    QS_CHECK(reader.readNodes(graph, names, depth));
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    for (const auto& output : graph.at("outputs")) {
        QS_TRY(Argument value, reader.argument(output, names));
        out.args.push_back({"", std::move(value)});
    }
    edit.insert(std::move(out));
    ModelInfo info;
    info.exportRecord = subgraphRecord(graph);
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

Result<bool> Pt2GraphReader::inlineWrapper(const json& spec, NameScope& names, int depth)
{
    const auto at = wrappedGraph(spec);
    if (!at)
        return false;
    const json& inputs = spec.at("inputs");
    const auto [tag, held] = unionOf(inputs[at->graph].at("arg"));
    if (tag != "as_graph")
        return false;
    const json& inner = held->at("graph");
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
    const json& innerInputs = inner.at("inputs");
    for (std::size_t i = 0; i < innerInputs.size() && i < operands.size(); ++i)
        for (const auto& declared : schemaOutputs(innerInputs[i]))
            innerNames[declared.name] = operands[i];
    QS_CHECK(readNodes(inner, innerNames, depth + 1));
    std::vector<std::string> made;
    for (const auto& output : spec.at("outputs"))
        for (const auto& declared : schemaOutputs(output))
            made.push_back(declared.name);
    const json& results = inner.at("outputs");
    for (std::size_t i = 0; i < made.size() && i < results.size(); ++i) {
        QS_TRY(names[made[i]], argument(results[i], innerNames));
    }
    return true;
}

Result<void> Pt2GraphReader::readNode(const json& graph, const json& spec, NameScope& names,
                                      int depth)
{
    Node node;
    node.target = targetName(spec.at("target").get<std::string>());
    if (node.target == "higher_order.with_effects")
        return readNode(graph, withoutToken(spec), names, depth);
    if (isAssertion(node.target) || prints(node.target))
        return {};
    QS_TRY(const bool inlined, inlineWrapper(spec, names, depth));
    if (inlined)
        return {};
    std::vector<std::string> fileNames;
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

Result<void> Pt2GraphReader::readNodes(const json& graph, NameScope& names, int depth)
{
    if (depth > kMaxDepth)
        return fail(badGraph("subgraphs are nested too deeply", ""));
    for (const auto& spec : graph.at("nodes"))
        QS_CHECK(readNode(graph, spec, names, depth));
    return {};
}

} // namespace qs
