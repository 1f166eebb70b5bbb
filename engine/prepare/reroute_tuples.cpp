// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/reroute_tuples.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/operators/tuple_ops.h"

namespace qs {

namespace {

using List = Argument::List;

const Argument* itemAt(const List& items, std::int64_t index)
{
    const auto size = std::int64_t(items.size());
    const std::int64_t at = index < 0 ? index + size : index;
    return at >= 0 && at < size ? &items[std::size_t(at)] : nullptr;
}

/// The elements of a value that a node of the graph puts together: a tuple's own, or those of a
/// list written out inside one. Null where only the run knows them.
const List* elementsOf(const GraphEdit& edit, ValueRef value)
{
    const Node& node = edit.get(value.node);
    if (isTupleNode(node))
        return node.args[0].value.asList();
    const auto read = getItemOf(node);
    const List* outer = read ? elementsOf(edit, read->container) : nullptr;
    const Argument* item = outer ? itemAt(*outer, read->index) : nullptr;
    return item ? item->asList() : nullptr;
}

/// A reader may know more of a value's type than whoever took the tuple apart.
void keepType(GraphEdit& edit, ValueRef element, const ValueType& type)
{
    const Node& node = edit.get(element.node);
    const ValueType& known = node.outputs.at(element.index).type;
    const bool plain = isGetItemNode(node) || node.isOp(kStubTarget);
    if (!plain || known.kind != type.kind || known.shapeKnown || !type.shapeKnown)
        return;
    edit.change(element.node).outputs.at(element.index).type = type;
    if (node.isOp(kStubTarget))
        if (const ValueRef* source = node.args.at(0).value.asRef())
            keepType(edit, *source, type);
}

bool isPlumbing(const Node& node)
{
    return isTupleNode(node) || getItemOf(node);
}

} // namespace

bool rerouteTuples(GraphEdit& edit)
{
    bool changed = false;
    const std::vector<NodeId> order = edit.order();
    // In execution order: what a getitem reads has itself been rerouted before.
    for (const NodeId id : order) {
        const auto read = getItemOf(edit.get(id));
        const List* elements = read ? elementsOf(edit, read->container) : nullptr;
        const Argument* item = elements ? itemAt(*elements, read->index) : nullptr;
        const ValueRef* element = item ? item->asRef() : nullptr;
        if (!element || edit.users({id, 0}).empty())
            continue;
        const ValueRef target = *element;
        keepType(edit, target, ValueType(edit.get(id).outputs.at(0).type));
        edit.replaceUses({id, 0}, target);
        changed = true;
    }
    for (auto id = order.rbegin(); id != order.rend(); ++id)
        if (isPlumbing(edit.get(*id)) && edit.users({*id, 0}).empty()) {
            edit.erase(*id);
            changed = true;
        }
    return changed;
}

} // namespace qs
