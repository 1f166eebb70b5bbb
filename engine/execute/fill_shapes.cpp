// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/fill_shapes.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/graph_edit.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

using Seen = std::unordered_map<ValueRef, ValueType>;

bool isComplete(const ValueType& type)
{
    return type.kind != ValueKind::Tensor
        || (type.shapeKnown && type.dtype != DType::Unknown
            && std::none_of(type.shape.begin(), type.shape.end(),
                            [](const Dim& dim) { return dim.size < 0; }));
}

void record(Seen& seen, ValueRef ref, const at::IValue& value)
{
    if (!value.isTensor())
        return;
    const at::Tensor& tensor = value.toTensor();
    ValueType nothing; // attention's weights if they were not requested
    nothing.kind = ValueKind::None;
    seen.try_emplace(ref, tensor.defined() ? typeOfTensor(tensor) : nothing);
}

/// Types that one run observed in a graph and in the graphs inside it.
class Shapes
{
public:
    /// Runs the graph on `inputs`.
    static Result<Shapes> seenOf(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                                 const JobContext& job)
    {
        Shapes shapes;
        const BodyTap bodies = [&](const Graph& body, ValueRef ref, const at::IValue& value) {
            record(shapes.m_seen[&body], ref, value);
        };
        QS_TRY(const Interpreter interpreter, Interpreter::create(graph, {.bodies = bodies}, job));
        Seen& outer = shapes.m_seen[graph.get()];
        const Tap see = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            record(outer, ref, value);
            return {};
        };
        QS_CHECK(interpreter.run(inputs, see, job));
        return shapes;
    }

    /// The graph after `fill(known, seen)` for the type of every observed value.
    template<class Fill>
    Graph applied(const Graph& graph, const Fill& fill) const
    {
        GraphEdit edit(graph);
        for (const NodePtr& node : graph.nodes())
            for (std::size_t i = 0; i < node->subgraphs.size(); ++i)
                if (lacksShapes(*node->subgraphs[i]))
                    edit.change(node->id).subgraphs[i]
                        = std::make_shared<const Graph>(applied(*node->subgraphs[i], fill));
        const auto seen = m_seen.find(&graph);
        if (seen != m_seen.end())
            for (const auto& [ref, type] : seen->second) {
                ValueType known = graph.value(ref).type;
                fill(known, type);
                if (known != graph.value(ref).type)
                    edit.change(ref.node).outputs.at(ref.index).type = std::move(known);
            }
        return edit.build();
    }

private:
    std::unordered_map<const Graph*, Seen> m_seen;
};

} // namespace

bool lacksShapes(const Graph& graph)
{
    return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const NodePtr& node) {
        return std::any_of(node->outputs.begin(), node->outputs.end(),
                           [](const Value& value) { return !isComplete(value.type); })
            || std::any_of(node->subgraphs.begin(), node->subgraphs.end(),
                           [](const auto& body) { return lacksShapes(*body); });
    });
}

Result<Graph> withShapes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                         const JobContext& job)
{
    if (!lacksShapes(*graph))
        return *graph;
    QS_TRY(const Shapes shapes, Shapes::seenOf(graph, inputs, job));
    // Shapes from the file are kept: they may have open dimensions.
    const bool onlyMissing = !graph->info().exportRecord.empty();
    return shapes.applied(*graph, [onlyMissing](ValueType& known, const ValueType& seen) {
        if (onlyMissing && isComplete(known))
            return;
        known.kind = seen.kind;
        known.dtype = seen.dtype;
        known.shapeKnown = true;
        known.shape = seen.shape;
    });
}

std::size_t countUntyped(const Graph& graph)
{
    std::size_t count = 0;
    for (const NodePtr& node : graph.nodes()) {
        for (const Value& value : node->outputs)
            count += value.type.isUntyped();
        for (const auto& body : node->subgraphs)
            count += countUntyped(*body);
    }
    return count;
}

Result<Graph> withTypes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                        const JobContext& job)
{
    QS_TRY(const Shapes shapes, Shapes::seenOf(graph, inputs, job));
    return shapes.applied(*graph, [](ValueType& known, const ValueType& seen) {
        if (!known.isUntyped() || seen.kind != ValueKind::Tensor)
            return;
        known.dtype = seen.dtype;
        if (!known.shapeKnown)
            known.shape.assign(seen.shape.size(), Dim {});
        known.shapeKnown = true;
    });
}

} // namespace qs
