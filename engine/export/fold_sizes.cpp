// SPDX-License-Identifier: Apache-2.0
#include "engine/export/fold_sizes.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/scalar_ops.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"

#include <optional>
#include <unordered_map>

namespace qs {

namespace {

using Numbers = std::unordered_map<ValueRef, Argument>;

std::optional<Argument> numberArgument(const at::IValue& value)
{
    if (value.isInt())
        return Argument(value.toInt());
    if (value.isBool())
        return Argument(value.toBool());
    return value.isDouble() ? std::optional<Argument>(value.toDouble()) : std::nullopt;
}

std::vector<NamedArgument> withNumbers(const Node& node, const Numbers& numbers)
{
    return mapRefs(node.args, [&](ValueRef ref) {
        const auto it = numbers.find(ref);
        return it == numbers.end() ? Argument(ref) : it->second;
    });
}

class SizeFolder
{
public:
    explicit SizeFolder(const Graph& graph)
        : m_graph(graph)
        , m_edit(graph)
    {
    }

    Result<Graph> run()
    {
        std::vector<NodeId> folded;
        for (const NodePtr& node : m_graph.nodes()) {
            const std::vector<NamedArgument> args = withNumbers(*node, m_numbers);
            if (!m_numbers.empty() && !args.empty())
                m_edit.setArgs(node->id, args);
            QS_TRY(const auto number, numberOf(*node, args));
            if (number) {
                m_numbers[{node->id, 0}] = *number;
                folded.push_back(node->id);
            }
        }
        for (auto it = folded.rbegin(); it != folded.rend(); ++it)
            m_edit.erase(*it);
        return m_edit.build();
    }

private:
    Result<std::optional<Argument>> numberOf(const Node& node,
                                             const std::vector<NamedArgument>& args) const
    {
        std::optional<Argument> none;
        if (node.kind != NodeKind::Op || node.outputs.size() != 1
            || !node.outputs[0].type.expression.empty())
            return none;
        if (node.target == "aten.sym_size.int" && args.size() == 2)
            return sizeOf(args[0].value, args[1].value);
        if (node.target == "aten.sym_numel.default" && args.size() == 1)
            return countOf(args[0].value);
        if (node.target == "prim.dtype.default" && args.size() == 1)
            return elementType(args[0].value);
        if (!isScalarOp(node.target))
            return none;
        std::vector<at::IValue> values;
        for (const auto& arg : args) {
            if (const auto* v = arg.value.asInt())
                values.emplace_back(*v);
            else if (const auto* f = arg.value.asDouble())
                values.emplace_back(*f);
            else if (const auto* b = arg.value.asBool())
                values.emplace_back(*b);
            else
                return none;
        }
        auto made = runScalarOp(node.target, values);
        if (!made)
            return fail(std::move(made).error().atNode(node.name));
        return numberArgument(*made);
    }

    std::optional<Argument> countOf(const Argument& tensor) const
    {
        const auto* ref = tensor.asRef();
        if (!ref || !m_graph.value(*ref).type.shapeKnown)
            return {};
        std::int64_t count = 1;
        for (const Dim& size : m_graph.value(*ref).type.shape) {
            if (size.isSymbolic() || size.size < 0)
                return {};
            count *= size.size;
        }
        return Argument(count);
    }

    std::optional<Argument> elementType(const Argument& tensor) const
    {
        const auto* ref = tensor.asRef();
        const DType dtype = ref ? m_graph.value(*ref).type.dtype : DType::Unknown;
        return dtype == DType::Unknown ? std::nullopt : std::optional<Argument>(dtype);
    }

    std::optional<Argument> sizeOf(const Argument& tensor, const Argument& dim) const
    {
        const auto* ref = tensor.asRef();
        const auto* place = dim.asInt();
        if (!ref || !place)
            return {};
        const ValueType& type = m_graph.value(*ref).type;
        const std::int64_t rank = std::int64_t(type.shape.size());
        const std::int64_t at = *place < 0 ? *place + rank : *place;
        if (!type.shapeKnown || at < 0 || at >= rank)
            return {};
        const Dim& size = type.shape[std::size_t(at)];
        return size.isSymbolic() || size.size < 0 ? std::nullopt
                                                  : std::optional<Argument>(size.size);
    }

    const Graph& m_graph;
    GraphEdit m_edit;
    Numbers m_numbers;
};

/// Numbers that go through small tensors on their way (a traced `x.size(0) * 2`).
Result<Graph> foldNumbers(const Graph& graph)
{
    QS_TRY(const Interpreter interpreter,
           Interpreter::create(std::make_shared<const Graph>(graph)));
    Numbers numbers;
    for (const NodePtr& node : graph.nodes()) {
        if (node->kind != NodeKind::Op || node->outputs.size() != 1
            || !node->outputs[0].type.expression.empty() || !interpreter.isConstant({node->id, 0}))
            continue;
        const ValueKind kind = node->outputs[0].type.kind;
        if (kind != ValueKind::SymInt && kind != ValueKind::SymFloat && kind != ValueKind::SymBool)
            continue;
        QS_TRY(const at::IValue value, interpreter.constant({node->id, 0}));
        if (const auto number = numberArgument(value))
            numbers[{node->id, 0}] = *number;
    }
    if (numbers.empty())
        return graph;
    GraphEdit edit(graph);
    for (const NodePtr& node : graph.nodes()) {
        std::vector<NamedArgument> args = withNumbers(*node, numbers);
        if (args != node->args)
            edit.setArgs(node->id, std::move(args));
    }
    edit.eraseDead();
    return edit.build();
}

} // namespace

Result<Graph> foldSizes(const Graph& graph)
{
    QS_TRY(const Graph sized, SizeFolder(graph).run());
    return foldNumbers(sized);
}

} // namespace qs
