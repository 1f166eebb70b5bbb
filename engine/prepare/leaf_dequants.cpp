// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/leaf_dequants.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/operators/tuple_ops.h"
#include "engine/prepare/reroute_tuples.h"

namespace qs {

namespace {

/// Builds the nodes behind one custom module, each right behind the one before.
class LeafSplitter
{
public:
    LeafSplitter(GraphEdit& edit, NodeId customModule)
        : m_edit(edit)
        , m_last(customModule)
    {
        const Node& node = edit.get(customModule);
        m_scope = node.scope;
        m_origin = node.origin ? node.origin : node.id;
    }

    /// The value's counterpart with every tensor dequantized.
    ValueRef rebuild(ValueRef value, const TupleStructure& structure)
    {
        if (!structure.isTuple)
            return structure.leaf == "Tensor" ? stub(value) : value;
        Argument::List items;
        for (std::size_t i = 0; i < structure.items.size(); ++i)
            items.emplace_back(rebuild(element(value, i, structure.items[i]), structure.items[i]));
        return add("tuple", kTupleTarget, {{"iterable", std::move(items)}}, structure);
    }

    const std::vector<NodeId>& stubs() const { return m_stubs; }
    const std::unordered_set<NodeId>& added() const { return m_added; }

private:
    ValueRef element(ValueRef tuple, std::size_t index, const TupleStructure& structure)
    {
        return add("getitem", kGetItemTarget, {{"a", tuple}, {"b", std::int64_t(index)}},
                   structure);
    }

    ValueRef stub(ValueRef value)
    {
        const ValueRef out = add("dequant_stub", kStubTarget, {{"input", value}}, {});
        m_stubs.push_back(out.node);
        return out;
    }

    ValueRef add(const char* name, std::string_view target, std::vector<NamedArgument> args,
                 const TupleStructure& structure)
    {
        Node node;
        node.name = name;
        node.target = target;
        node.args = std::move(args);
        node.scope = m_scope;
        node.origin = m_origin;
        ValueType type;
        type.kind = structure.isTuple   ? ValueKind::Tuple
            : structure.leaf == "int"   ? ValueKind::SymInt
            : structure.leaf == "float" ? ValueKind::SymFloat
            : structure.leaf == "bool"  ? ValueKind::SymBool
            : structure.leaf == "None"  ? ValueKind::None
                                        : ValueKind::Tensor;
        if (structure.isTuple)
            type.className = structure.text();
        node.outputs.push_back({"", std::move(type)});
        m_last = m_edit.insertAfter(std::move(node), m_last);
        m_added.insert(m_last);
        return {m_last, 0};
    }

    GraphEdit& m_edit;
    NodeId m_last;
    NodeId m_origin;
    Scope m_scope;
    std::vector<NodeId> m_stubs;
    std::unordered_set<NodeId> m_added;
};

} // namespace

Result<std::vector<NodeId>> insertLeafDequants(GraphEdit& edit, NodeId customModule)
{
    const Node& node = edit.get(customModule);
    if (node.outputs.size() != 1 || node.outputs[0].type.kind != ValueKind::Tuple)
        return fail(
            makeError(ErrorCode::Unsupported, "it does not return one tuple").atNode(node.name));
    auto structure = parseTupleStructure(node.outputs[0].type.className);
    if (!structure)
        return fail(std::move(structure).error().atNode(node.name));
    const ValueRef whole {customModule, 0};
    LeafSplitter splitter(edit, customModule);
    const ValueRef rebuilt = splitter.rebuild(whole, *structure);
    edit.replaceUses(whole, rebuilt, splitter.added());
    rerouteTuples(edit);
    std::vector<NodeId> stubs;
    for (const NodeId stub : splitter.stubs())
        if (edit.users({stub, 0}).empty())
            edit.erase(stub);
        else
            stubs.push_back(stub);
    rerouteTuples(edit); // what only the stubs without readers have read
    return stubs;
}

NodeId dequantStubOf(const GraphEdit& edit, ValueRef value)
{
    const Node& node = edit.get(value.node);
    if (node.isOp(kStubTarget))
        return node.id;
    if (const auto read = getItemOf(node))
        return dequantStubOf(edit, read->container);
    NodeId found;
    if (isTupleNode(node))
        forEachRef(node.args[0].value, [&](ValueRef item) {
            if (!found)
                found = dequantStubOf(edit, item);
        });
    return found;
}

int convertDequantStubs(GraphEdit& edit)
{
    int count = 0;
    for (const NodeId id : edit.order()) {
        if (!edit.get(id).isOp(kStubTarget))
            continue;
        const Argument value = edit.get(id).args.at(0).value;
        edit.change(id).target = "aten.dequantize.self";
        edit.setArgs(id, {{"self", value}});
        edit.rename(id, "dequantize");
        ++count;
    }
    return count;
}

} // namespace qs
