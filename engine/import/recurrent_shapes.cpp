// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recurrent_shapes.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <optional>

namespace qs {

namespace {

using Shape = std::vector<Dim>;

class RecurrentShapes
{
public:
    explicit RecurrentShapes(const Graph& graph)
        : m_edit(graph)
    {
    }

    Graph run()
    {
        for (const NodeId id : m_edit.order()) {
            const Node& node = m_edit.get(id);
            if (node.isOp(kLstmTarget) || node.isOp(kGruTarget))
                byRule(node);
            else if (readsCorrected(node))
                byOperator(node);
        }
        if (!m_first.empty())
            note("the file records a wrong shape: " + m_first + "; corrected, with "
                 + std::to_string(m_corrected.size() - 1) + " values that follow from it");
        return m_edit.build();
    }

private:
    const ValueType* typeOf(const Argument& argument) const
    {
        const ValueRef* ref = argument.asRef();
        const Node* maker = ref ? m_edit.tryGet(ref->node) : nullptr;
        return maker ? &maker->outputs.at(ref->index).type : nullptr;
    }

    /// Corrects the states by rule; they are one tensor or a list of tensors.
    void byRule(const Node& node)
    {
        const Argument* given = node.tryArg("hx");
        if (!given)
            return;
        const auto* list = given->asList();
        const std::vector<Argument> states = list ? *list : std::vector<Argument> {*given};
        const NodeId id = node.id;
        for (std::size_t i = 0; i < states.size(); ++i)
            if (const ValueType* type = typeOf(states[i]); type && type->shapeKnown)
                correct({id, std::uint32_t(i + 1)}, Shape(type->shape));
    }

    /// Compares sizes; a symbol of the file has its traced size.
    static bool haveSameSizes(const Shape& a, const Shape& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const Dim& x, const Dim& y) { return x.size == y.size; });
    }

    void correct(ValueRef value, Shape shape)
    {
        const Node& node = m_edit.get(value.node);
        if (value.index >= node.outputs.size())
            return;
        const ValueType& known = node.outputs[value.index].type;
        if (known.kind != ValueKind::Tensor || !known.shapeKnown
            || haveSameSizes(known.shape, shape))
            return;
        Shape wrong = known.shape;
        ValueType right = known;
        right.shape = std::move(shape);
        if (m_first.empty())
            m_first = "of '" + node.name + "' " + known.text() + " instead of " + right.text();
        m_edit.change(value.node).outputs[value.index].type = std::move(right);
        m_corrected.emplace(value, std::move(wrong));
    }

    bool readsCorrected(const Node& node) const
    {
        bool found = false;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value,
                       [&](ValueRef ref) { found = found || m_corrected.contains(ref); });
        return found && node.kind == NodeKind::Op && node.subgraphs.empty()
            && node.opaqueReason.empty() && !isForbiddenOperator(node.target);
    }

    /// Infers shapes by running the operator on the meta device, whose tensors have no elements.
    void byOperator(const Node& node)
    {
        const ReadValue read = [&](ValueRef ref) -> Result<at::IValue> {
            const ValueType& type = m_edit.get(ref.node).outputs.at(ref.index).type;
            std::vector<std::int64_t> sizes;
            for (const Dim& dim : type.shape)
                sizes.push_back(dim.size);
            if (type.kind != ValueKind::Tensor || !type.shapeKnown || type.dtype == DType::Unknown
                || std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 0; }))
                return fail(ErrorCode::Unsupported, "its shape is not known");
            return at::IValue(
                at::empty(sizes, at::TensorOptions(toScalarType(type.dtype)).device(at::kMeta)));
        };
        const RunSubgraph none = [](std::size_t, const std::vector<at::IValue>&) {
            return fail(ErrorCode::Unsupported, "bodies are not inferred");
        };
        const auto made = guardTorchValue<std::vector<at::IValue>>([&] {
            return runCall(node, prepareCall(node), {at::Device(at::kMeta), read, none});
        });
        if (!made || made->size() != node.outputs.size())
            return likeOperand(node);
        const std::vector<Dim> symbols = symbolsRead(node);
        const NodeId id = node.id;
        for (std::size_t i = 0; i < made->size(); ++i) {
            if (!(*made)[i].isTensor())
                continue;
            Shape shape;
            for (const std::int64_t size : (*made)[i].toTensor().sizes())
                shape.push_back(named(size, symbols));
            correct({id, std::uint32_t(i)}, std::move(shape));
        }
    }

    /// For an operator without meta kernel: a result that had its operand's shape gets the
    /// operand's new shape.
    void likeOperand(const Node& node)
    {
        std::optional<ValueRef> operand;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!operand && m_corrected.contains(ref))
                    operand = ref;
            });
        const NodeId id = node.id;
        const Shape right = m_edit.get(operand->node).outputs.at(operand->index).type.shape;
        for (std::size_t i = 0; i < m_edit.get(id).outputs.size(); ++i)
            if (m_edit.get(id).outputs[i].type.shape == m_corrected.at(*operand))
                correct({id, std::uint32_t(i)}, right);
    }

    std::vector<Dim> symbolsRead(const Node& node) const
    {
        std::vector<Dim> symbols;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                for (const Dim& dim : m_edit.get(ref.node).outputs.at(ref.index).type.shape)
                    if (dim.isSymbolic())
                        symbols.push_back(dim);
            });
        return symbols;
    }

    /// Returns the symbol whose traced size equals `size`, else the fixed size.
    static Dim named(std::int64_t size, const std::vector<Dim>& symbols)
    {
        const auto symbol = std::find_if(symbols.begin(), symbols.end(),
                                         [&](const Dim& dim) { return dim.size == size; });
        return symbol == symbols.end() ? Dim::fixed(size) : *symbol;
    }

    GraphEdit m_edit;
    std::map<ValueRef, Shape> m_corrected; ///< corrected values, with their shapes in the file
    std::string m_first;
};

} // namespace

Result<Graph> withRecurrentShapes(const Graph& graph)
{
    const auto nodes = graph.nodes();
    if (std::none_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
            return node->isOp(kLstmTarget) || node->isOp(kGruTarget);
        }))
        return graph;
    return RecurrentShapes(graph).run();
}

} // namespace qs
