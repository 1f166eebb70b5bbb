// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_file_graph.h"

#include "engine/import/pt2/pt2_schema.h"

namespace qs {

Pt2FileGraph::Pt2FileGraph(JsonView json)
    : m_json(json)
{
    const auto add = [&](const char* name, Table& table) {
        if (const auto entries = json.find(name))
            for (const auto& [key, value] : entries->members())
                table.insert_or_assign(key, value);
    };
    add("tensor_values", m_tensors);
    for (const char* name : {"sym_int_values", "sym_float_values", "sym_bool_values"})
        add(name, m_symbols);
}

std::optional<JsonView> Pt2FileGraph::tensorMeta(std::string_view name) const
{
    const auto it = m_tensors.find(name);
    return it == m_tensors.end() ? std::nullopt : std::optional(it->second);
}

ValueType Pt2FileGraph::typeOf(std::string_view name, ValueKind kind) const
{
    ValueType type;
    type.kind = kind;
    if (kind == ValueKind::Tensor) {
        if (const auto meta = tensorMeta(name))
            type = schemaTensorType(*meta);
        return type;
    }
    if (const auto it = m_symbols.find(name); it != m_symbols.end())
        if (const auto expr = it->second.find("as_expr"))
            type.expression = expr->at("expr_str").text();
    return type;
}

Pt2NodeSpec Pt2NodeSpec::read(JsonView node)
{
    Pt2NodeSpec spec;
    spec.target = targetName(node.at("target").text());
    spec.name = nameOf(node);
    spec.inputs = node.at("inputs").items().all();
    spec.outputs = node.at("outputs").items().all();
    if (const auto metadata = node.find("metadata")) {
        spec.moduleStack = metadata->text("nn_module_stack", "");
        spec.stackTrace = metadata->text("stack_trace", "");
        spec.torchFn = metadata->text("torch_fn", "");
    }
    return spec;
}

std::string_view Pt2NodeSpec::nameOf(JsonView node)
{
    const auto name = node.find("name");
    return name && name->isString() ? name->text() : std::string_view();
}

Pt2NodeSpec Pt2NodeSpec::withoutToken() const
{
    if (inputs.size() < 2)
        throw JsonShapeError("a call with effects names no operator");
    Pt2NodeSpec plain = *this;
    plain.inputs.erase(plain.inputs.begin(), plain.inputs.begin() + 2);
    plain.target = targetName(unionOf(inputs[1].at("arg")).second.text());
    plain.outputs.clear();
    for (std::size_t i = 1; i < outputs.size(); ++i)
        if (unionOf(outputs[i]).first != "as_none")
            plain.outputs.push_back(outputs[i]);
    return plain;
}

} // namespace qs
