// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/fold_sizes.h"

#include "engine/base/memory/free_later.h"
#include "engine/execute/control/scalar_ops.h"
#include "engine/execute/interpreter.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_name.h"

#include <algorithm>
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

    Result<Graph> run(const JobContext& job)
    {
        std::vector<NodeId> folded;
        for (const NodePtr& node : m_graph.nodes()) {
            QS_CHECK(job.check());
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
                                             const std::vector<NamedArgument>& args)
    {
        std::optional<Argument> none;
        if (node.kind != NodeKind::Op || node.outputs.size() != 1
            || !node.outputs[0].type.expression.empty())
            return none;
        if (node.target == kSizeTarget && args.size() == 2)
            return sizeOf(args[0].value, args[1].value);
        if (node.target == kSizesTarget && args.size() == 1)
            return sizesOf(node, args[0].value);
        if (node.target == kRankTarget && args.size() == 1)
            return rankOf(args[0].value);
        if (node.target == "aten.slice.t" && !args.empty())
            return partOf(args);
        if (node.target == kElementsTarget && args.size() == 1)
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

    /// Null if the argument is not a tensor or its number of dimensions is not known.
    const std::vector<Dim>* shapeOf(const Argument& tensor) const
    {
        const auto* ref = tensor.asRef();
        const ValueType* type = ref ? &m_graph.value(*ref).type : nullptr;
        return type && type->shapeKnown ? &type->shape : nullptr;
    }

    /// TorchScript's list of all sizes; sizes that are not fixed become nodes.
    std::optional<Argument> sizesOf(const Node& node, const Argument& tensor)
    {
        const auto* shape = shapeOf(tensor);
        if (!shape)
            return {};
        Argument::List sizes;
        for (std::int64_t dim = 0; dim < std::int64_t(shape->size()); ++dim) {
            if (const auto known = sizeOf(tensor, Argument(dim))) {
                sizes.push_back(*known);
                continue;
            }
            Node size;
            size.name = operatorParts(kSizeTarget).word;
            size.target = kSizeTarget;
            size.args = {{"self", tensor}, {"dim", Argument(dim)}};
            size.outputs.push_back({"", {}});
            size.outputs[0].type.kind = ValueKind::SymInt;
            size.scope = node.scope;
            sizes.emplace_back(ValueRef {m_edit.insert(std::move(size), node.id), 0});
        }
        return Argument(std::move(sizes));
    }

    /// The part of a list of sizes that a slice selects, with Python's index rules.
    static std::optional<Argument> partOf(const std::vector<NamedArgument>& args)
    {
        const auto* list = args[0].value.asList();
        const bool known = std::all_of(args.begin() + 1, args.end(), [](const NamedArgument& arg) {
            return arg.value.asInt() || arg.value.isNone();
        });
        if (!list || !known)
            return {};
        const auto count = std::int64_t(list->size());
        const auto number = [&args](std::string_view name, std::int64_t otherwise) {
            const auto given
                = std::find_if(args.begin(), args.end(),
                               [&](const NamedArgument& arg) { return arg.name == name; });
            return given != args.end() && given->value.asInt() ? *given->value.asInt() : otherwise;
        };
        const auto place = [count](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
        };
        const std::int64_t end = place(number("end", count));
        const std::int64_t step = std::max<std::int64_t>(number("step", 1), 1);
        Argument::List part;
        for (std::int64_t at = place(number("start", 0)); at < end; at += step)
            part.push_back((*list)[std::size_t(at)]);
        return Argument(std::move(part));
    }

    std::optional<Argument> countOf(const Argument& tensor) const
    {
        const auto* shape = shapeOf(tensor);
        if (!shape)
            return {};
        std::int64_t count = 1;
        for (const Dim& size : *shape) {
            if (size.isSymbolic() || size.size < 0)
                return {};
            count *= size.size;
        }
        return Argument(count);
    }

    std::optional<Argument> rankOf(const Argument& tensor) const
    {
        const auto* shape = shapeOf(tensor);
        return shape ? std::optional<Argument>(std::int64_t(shape->size())) : std::nullopt;
    }

    std::optional<Argument> elementType(const Argument& tensor) const
    {
        const auto* ref = tensor.asRef();
        const DType dtype = ref ? m_graph.value(*ref).type.dtype : DType::Unknown;
        return dtype == DType::Unknown ? std::nullopt : std::optional<Argument>(dtype);
    }

    std::optional<Argument> sizeOf(const Argument& tensor, const Argument& dim) const
    {
        const auto* shape = shapeOf(tensor);
        const auto* place = dim.asInt();
        if (!shape || !place)
            return {};
        const std::int64_t rank = std::int64_t(shape->size());
        const std::int64_t at = *place < 0 ? *place + rank : *place;
        if (at < 0 || at >= rank)
            return {};
        const Dim& size = (*shape)[std::size_t(at)];
        return size.isSymbolic() || size.size < 0 ? std::nullopt
                                                  : std::optional<Argument>(size.size);
    }

    const Graph& m_graph;
    GraphEdit m_edit;
    Numbers m_numbers;
};

/// Folds numbers that are computed in small tensors, as tracing records `x.size(0) * 2`.
Result<Graph> foldNumbers(const Graph& graph, const JobContext& job)
{
    std::optional<Interpreter> interpreter;
    Numbers numbers;
    for (const NodePtr& node : graph.nodes()) {
        QS_CHECK(job.check());
        if (node->kind != NodeKind::Op || node->outputs.size() != 1
            || !node->outputs[0].type.expression.empty())
            continue;
        const ValueKind kind = node->outputs[0].type.kind;
        if (kind != ValueKind::SymInt && kind != ValueKind::SymFloat && kind != ValueKind::SymBool)
            continue;
        if (!interpreter) {
            QS_TRY(interpreter, Interpreter::create(std::make_shared<const Graph>(graph), {}, job));
        }
        if (!interpreter->isConstant({node->id, 0}))
            continue;
        QS_TRY(const at::IValue value, interpreter->constant({node->id, 0}));
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

Result<Graph> foldSizes(const Graph& graph, const JobContext& job)
{
    QS_TRY(const Graph sized, makeFreedLater<SizeFolder>(graph)->run(job));
    return foldNumbers(sized, job);
}

} // namespace qs
