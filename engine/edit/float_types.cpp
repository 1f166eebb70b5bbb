// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/edit_functions.h"
#include "engine/edit/half_precision.h"
#include "engine/edit/way_back.h"
#include "engine/execute/op_table.h"
#include "engine/execute/tensor_store.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

Argument inFloat32(Argument argument)
{
    if (const DType* dtype = argument.asDType(); dtype && isHalfPrecision(*dtype))
        return DType::Float32;
    if (auto* list = std::get_if<Argument::List>(&argument.value))
        for (Argument& item : *list)
            item = inFloat32(std::move(item));
    return argument;
}

/// Converts an element type given by number, as in TorchScript.
Argument numberInFloat32(const Node& node, std::size_t index)
{
    const Argument& argument = node.args[index].value;
    const auto* number = argument.asInt();
    const auto op = number ? findOperator(node.target) : std::nullopt;
    if (!op)
        return argument;
    for (std::size_t i = 0; i < op->schema().arguments().size(); ++i) {
        const c10::Argument& slot = op->schema().arguments()[i];
        const bool isSlot
            = node.args[index].name.empty() ? i == index : slot.name() == node.args[index].name;
        if (isSlot && slot.real_type()->kind() == c10::TypeKind::ScalarTypeType
            && (*number == std::int64_t(at::kHalf) || *number == std::int64_t(at::kBFloat16)))
            return std::int64_t(at::kFloat);
    }
    return argument;
}

/// True for a mixed-precision region, whose operators choose half precision at run time.
bool isAutocast(const Node& node)
{
    return node.target.ends_with("wrap_with_autocast");
}

/// Converts one graph, and the bodies of its nodes, from half precision to float32.
class FloatTypes
{
public:
    explicit FloatTypes(GraphEdit& graph)
        : m_graph(graph)
        , m_below(tensorsOf(graph))
    {
    }

    EditedNodes run()
    {
        EditedNodes changed;
        for (const NodeId id : m_graph.order()) {
            const bool stored = m_graph.get(id).isStored();
            if (convert(id))
                changed.push_back(id);
            if (!stored)
                dropIdleCast(id);
        }
        if (m_store)
            m_graph.setTensors(m_store);
        return changed;
    }

private:
    bool convert(NodeId id)
    {
        const Node& node = m_graph.get(id);
        const bool hasTypes
            = std::any_of(node.outputs.begin(), node.outputs.end(),
                          [](const Value& value) { return isHalfPrecision(value.type.dtype); });
        std::vector<NamedArgument> args = node.args;
        for (std::size_t i = 0; i < args.size(); ++i)
            args[i].value = inFloat32(numberInFloat32(node, i));
        if (isAutocast(node))
            switchOff(args);
        std::vector<std::shared_ptr<const Graph>> bodies = node.subgraphs;
        bool hasBodies = false;
        for (auto& body : bodies) {
            GraphEdit inside(*body);
            if (FloatTypes(inside).run().empty())
                continue;
            body = std::make_shared<const Graph>(inside.build());
            hasBodies = true;
        }
        const bool hasArguments = args != node.args;
        if (!hasTypes && !hasArguments && !hasBodies)
            return false;
        if (hasArguments)
            m_graph.setArgs(id, std::move(args));
        Node& changed = m_graph.change(id);
        changed.subgraphs = std::move(bodies);
        if (changed.isStored() && hasTypes)
            convertTensor(changed);
        for (Value& value : changed.outputs)
            if (isHalfPrecision(value.type.dtype)) {
                value.type.dtype = DType::Float32;
                m_wasHalf.insert(id);
            }
        return true;
    }

    /// Disables autocast: its first boolean argument enables it.
    static void switchOff(std::vector<NamedArgument>& args)
    {
        const auto flag = std::find_if(args.begin(), args.end(), [](const NamedArgument& one) {
            return one.value.asBool() != nullptr;
        });
        if (flag != args.end())
            flag->value = false;
    }

    void convertTensor(Node& node)
    {
        if (!m_store)
            m_store = TensorStore::over(m_below);
        if (!m_store)
            return;
        const auto make = [below = m_below, from = node.tensor]() -> Result<at::IValue> {
            QS_TRY(const at::Tensor tensor, below->getTensor(from));
            return at::IValue(tensor.to(at::kFloat));
        };
        node.tensorSha256 += "float32";
        node.tensor = m_store->addDerived(make, 2 * m_below->bytes(node.tensor));
    }

    /// Removes a cast between half precision and float32, which is now an identity.
    void dropIdleCast(NodeId id)
    {
        const Node& node = m_graph.get(id);
        const ValueRef* read = node.args.empty() ? nullptr : node.args.front().value.asRef();
        if (!isCast(node.target) || !read || node.outputs.size() != 1)
            return;
        const Node& maker = m_graph.get(read->node);
        const ValueType &before = maker.outputs.at(read->index).type, &after = node.outputs[0].type;
        const bool wasCast = m_wasHalf.contains(id) || m_wasHalf.contains(maker.id);
        if (!wasCast || before.dtype != after.dtype || before.device != after.device)
            return;
        m_graph.replaceUses({id, 0}, *read);
        m_graph.erase(id);
    }

    GraphEdit& m_graph;
    std::shared_ptr<TensorStore> m_below, m_store;
    std::unordered_set<NodeId> m_wasHalf;
};

} // namespace

Result<EditedNodes> asFloat32(EditDraft& draft, const EditStep&)
{
    EditedNodes changed = FloatTypes(draft.graph()).run();
    if (changed.empty())
        return refuse("nothing in the model is float16 or bfloat16");
    std::erase_if(changed, [&](NodeId id) { return !draft.graph().contains(id); });
    return changed;
}

} // namespace qs
