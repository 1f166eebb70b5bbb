// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/whole_objects.h"

#include "engine/configure/extension_packs.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/operators.h"

namespace qs {

std::optional<WholeObjectReason> whyObjectsStayFloat(const Graph& graph, const Node& node)
{
    if (node.kind != NodeKind::Op || isKernelTarget(node.target) || isPrepackTarget(node.target)
        || isPartsTarget(node.target))
        return std::nullopt;
    std::optional<WholeObjectReason> why;
    const auto inspect = [&](const ValueType& type) {
        if (why || type.kind != ValueKind::Custom || !isForeignClass(type.className))
            return;
        const auto spec = adaptedClass(type.className);
        const std::string name = plainClassName(type.className);
        if (!spec)
            why = {
                Reason::of<ReasonCode::ObjectsOfUnknownClass>(name),
                "name the class and its field under \"classes\" in the extension.json of its pack"};
        else if (!callsAny(node, spec->get) && !callsAny(node, spec->replace))
            why = {Reason::of<ReasonCode::ObjectsNotOneByOne>(name, spec->field),
                   "have the operator take and give one object an argument"};
    };
    for (const Value& output : node.outputs)
        inspect(output.type);
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) { inspect(graph.value(ref).type); });
    return why;
}

} // namespace qs
