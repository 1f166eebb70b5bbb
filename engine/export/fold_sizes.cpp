// SPDX-License-Identifier: Apache-2.0
#include "engine/export/fold_sizes.h"

#include "engine/execute/scalar_ops.h"
#include "engine/graph/graph_edit.h"

#include <optional>
#include <unordered_map>

namespace qs {

namespace {

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
            std::vector<NamedArgument> args;
            for (const auto& arg : node->args)
                args.push_back({arg.name, withNumbers(arg.value)});
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
    Argument withNumbers(const Argument& argument) const
    {
        if (const auto* ref = argument.asRef()) {
            const auto it = m_numbers.find(*ref);
            return it == m_numbers.end() ? argument : it->second;
        }
        const auto* items = argument.asList();
        if (!items)
            return argument;
        Argument::List out;
        for (const Argument& item : *items)
            out.push_back(withNumbers(item));
        return out;
    }

    Result<std::optional<Argument>> numberOf(const Node& node,
                                             const std::vector<NamedArgument>& args) const
    {
        std::optional<Argument> none;
        if (node.kind != NodeKind::Op || node.outputs.size() != 1
            || !node.outputs[0].type.expression.empty())
            return none;
        if (node.target == "aten.sym_size.int" && args.size() == 2)
            return sizeOf(args[0].value, args[1].value);
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
        if (made->isInt())
            return std::optional<Argument>(made->toInt());
        if (made->isBool())
            return std::optional<Argument>(made->toBool());
        return made->isDouble() ? std::optional<Argument>(made->toDouble()) : none;
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
    std::unordered_map<ValueRef, Argument> m_numbers;
};

} // namespace

Result<Graph> foldSizes(const Graph& graph)
{
    return SizeFolder(graph).run();
}

} // namespace qs
