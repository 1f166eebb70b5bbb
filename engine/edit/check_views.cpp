// SPDX-License-Identifier: Apache-2.0
// Checks that views after an edit are still possible: they depend on strides, which types do not
// record.
#include "engine/base/torch_guard.h"
#include "engine/edit/infer_types.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/text/size_expression.h"
#include "engine/import/pt2/symbol_text.h"

#include <ATen/ops/zeros.h>

#include <functional>
#include <numeric>
#include <optional>

namespace qs {

namespace {

using Sizes = std::map<std::string, std::int64_t>;

/// Maximum size of values; larger parts are not run for the check.
constexpr std::int64_t kMostRun = std::int64_t(1) << 26;

bool isView(const Node& node)
{
    return node.kind == NodeKind::Op && node.target == kViewTarget;
}

/// Runs a part of a draft once, on contiguous inputs.
class LayoutRun
{
public:
    LayoutRun(const GraphEdit& draft, const Sizes& sizes)
        : m_draft(draft)
        , m_sizes(sizes)
    {
    }

    /// Runs the nodes of `needed` in order. Fails with the first node of `views` that is
    /// impossible.
    Result<void> run(const std::unordered_set<NodeId>& needed,
                     const std::unordered_set<NodeId>& views)
    {
        const InferenceScope scope;
        for (const NodeId id : m_draft.order()) {
            if (!needed.contains(id))
                continue;
            const Node& node = m_draft.get(id);
            if (node.kind == NodeKind::Input)
                addInput(node);
            else if (node.isOperator()) {
                auto ran = call(node);
                if (ran && !*ran && views.contains(id))
                    return fail(std::move(*ran).error().atNode(node.name));
            }
        }
        return {};
    }

private:
    void addInput(const Node& node)
    {
        const ValueType& type = node.outputs.at(0).type;
        if (const auto shape = TypeInference::shapeOf(type, m_sizes))
            m_values[{node.id, 0}] = at::zeros(*shape, toScalarType(type.dtype));
    }

    /// Returns nullopt if an operand is unknown.
    std::optional<Result<void>> call(const Node& node)
    {
        bool unknown = !node.subgraphs.empty();
        const ReadValue read = [&](ValueRef ref) -> Result<at::IValue> {
            const Node& maker = m_draft.get(ref.node);
            if (const auto store = tensorsOf(m_draft); store && maker.isStored())
                return store->getOn(maker.tensor, m_device);
            const ValueType& type = maker.outputs.at(ref.index).type;
            if (type.kind == ValueKind::SymInt)
                if (const auto size = evaluateSize(symbolText(type.expression), m_sizes))
                    return at::IValue(*size);
            if (const auto it = m_values.find(ref); it != m_values.end())
                return it->second;
            unknown = true;
            return fail(ErrorCode::Unsupported, "an operand is not known");
        };
        const RunSubgraph none
            = [](std::size_t, const std::vector<at::IValue>&) -> Result<std::vector<at::IValue>> {
            return fail(ErrorCode::Unsupported, "it runs a subgraph");
        };
        if (unknown)
            return {};
        auto made = runCall(node, prepareCall(node), {m_device, read, none});
        if (unknown)
            return {};
        if (!made)
            return Result<void>(fail(std::move(made).error()));
        for (std::size_t i = 0; i < made->size() && i < node.outputs.size(); ++i)
            m_values[{node.id, std::uint32_t(i)}] = std::move((*made)[i]);
        return Result<void>();
    }

    const GraphEdit& m_draft;
    const Sizes& m_sizes;
    const at::Device m_device = at::kCPU;
    std::unordered_map<ValueRef, at::IValue> m_values;
};

} // namespace

Result<void> TypeInference::checkViews(const std::unordered_set<NodeId>& changed) const
{
    std::unordered_set<NodeId> views, behind = changed;
    for (const NodeId id : m_draft.order()) {
        const Node& node = m_draft.get(id);
        bool reached = behind.contains(id);
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) { reached |= behind.contains(ref.node); });
        if (!reached)
            continue;
        behind.insert(id);
        if (isView(node))
            views.insert(id);
    }
    if (views.empty())
        return {};
    std::unordered_set<NodeId> needed = views;
    const std::vector<NodeId> order = m_draft.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id)
        if (needed.contains(*id))
            for (const NamedArgument& argument : m_draft.get(*id).args)
                forEachRef(argument.value, [&](ValueRef ref) { needed.insert(ref.node); });
    const Sizes traced = sizes(false);
    const std::int64_t bytes = std::accumulate(
        needed.begin(), needed.end(), std::int64_t(0), [&](std::int64_t sum, NodeId id) {
            const Node& node = m_draft.get(id);
            for (const Value& value : node.outputs)
                if (const auto shape = shapeOf(value.type, traced); shape && node.isOperator())
                    sum += std::accumulate(shape->begin(), shape->end(), std::int64_t(4),
                                           std::multiplies<>());
            return sum;
        });
    if (bytes > kMostRun) // errors then occur when the model runs
        return {};
    return LayoutRun(m_draft, traced).run(needed, views);
}

} // namespace qs
