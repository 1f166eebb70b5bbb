// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/plan/json_graph.h"

#include "engine/graph/graph_edit.h"

#include <map>

namespace qs {

namespace {

using Ids = std::map<std::string, NodeId>;

Argument argumentFrom(const Json& value, const Ids& ids)
{
    if (value.is_null())
        return {};
    if (value.is_boolean())
        return value.get<bool>();
    if (value.is_number_integer())
        return value.get<std::int64_t>();
    if (value.is_number())
        return value.get<double>();
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_array()) {
        Argument::List list;
        for (const auto& item : value)
            list.push_back(argumentFrom(item, ids));
        return list;
    }
    return ValueRef {ids.at(value.at("ref").get<std::string>()),
                     value.value("index", std::uint32_t(0))};
}

NodeKind kindFrom(const std::string& word)
{
    return word == "input"    ? NodeKind::Input
        : word == "parameter" ? NodeKind::Parameter
        : word == "constant"  ? NodeKind::Constant
        : word == "output"    ? NodeKind::Output
                              : NodeKind::Op;
}

Value valueFrom(const Json& value)
{
    Value out;
    out.name = value.value("name", "");
    const std::string dtype = value.value("dtype", "");
    if (dtype.empty()) {
        out.type.kind = ValueKind::SymInt;
        return out;
    }
    out.type.dtype = dtypeFromName(dtype).value_or(DType::Unknown);
    out.type.shapeKnown = true;
    for (const auto& size : value.at("shape"))
        out.type.shape.push_back(Dim::fixed(size.get<std::int64_t>()));
    return out;
}

} // namespace

Graph graphFromJson(const Json& document)
{
    GraphEdit edit;
    Ids ids;
    for (const auto& item : document.at("nodes")) {
        Node node;
        node.kind = kindFrom(item.at("kind").get<std::string>());
        node.name = item.at("name").get<std::string>();
        node.target = item.value("target", node.name);
        node.scope.path = item.value("module", "");
        node.scope.moduleClass = item.value("module_class", "");
        node.torchFn = item.value("torch_fn", "");
        for (const auto& argument : item.value("args", Json::array()))
            node.args.push_back(
                {argument.at(0).get<std::string>(), argumentFrom(argument.at(1), ids)});
        for (const auto& value : item.value("outputs", Json::array()))
            node.outputs.push_back(valueFrom(value));
        const std::string name = node.name;
        edit.modules().add(node.scope.path, node.scope.moduleClass);
        ids[name] = edit.insert(std::move(node));
    }
    return edit.build();
}

} // namespace qs
