// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/classes/class_nodes.h"

#include "engine/execute/op_table.h"
#include "engine/graph/operators/operators.h"

namespace qs {

namespace {

/// Returns a call of the operator with these values in the order of its arguments.
Node callOf(const std::string& op, const std::vector<ValueRef>& values, const Scope& scope,
            ValueType type)
{
    Node node;
    node.target = operatorTarget(op) + ".default";
    node.scope = scope;
    const auto handle = findOperator(node.target);
    for (std::size_t i = 0; i < values.size(); ++i)
        node.args.push_back({handle->schema().arguments()[i].name(), values[i]});
    node.outputs.push_back({"", std::move(type)});
    return node;
}

} // namespace

Node getFieldNode(const PackClassSpec& spec, ValueRef object, const Scope& scope, ValueType field)
{
    Node node = callOf(spec.get.front(), {object}, scope, std::move(field));
    node.name = spec.field;
    return node;
}

Node replaceFieldNode(const PackClassSpec& spec, ValueRef object, ValueRef field,
                      const Scope& scope, ValueType type)
{
    Node node = callOf(spec.replace.front(), {object, field}, scope, std::move(type));
    node.name = "replace_" + spec.field;
    return node;
}

} // namespace qs
