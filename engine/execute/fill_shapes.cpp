// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/fill_shapes.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/graph_edit.h"

#include <algorithm>

namespace qs {

namespace {

bool isComplete(const ValueType& type)
{
    return type.kind != ValueKind::Tensor
        || (type.shapeKnown && type.dtype != DType::Unknown
            && std::none_of(type.shape.begin(), type.shape.end(),
                            [](const Dim& dim) { return dim.size < 0; }));
}

} // namespace

bool lacksShapes(const Graph& graph)
{
    return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const NodePtr& node) {
        return std::any_of(node->outputs.begin(), node->outputs.end(),
                           [](const Value& value) { return !isComplete(value.type); });
    });
}

Result<Graph> withShapes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                         const JobContext& job)
{
    if (!lacksShapes(*graph))
        return *graph;
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    GraphEdit edit(*graph);
    const Tap see = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
        if (!value.isTensor() || !value.toTensor().defined())
            return {};
        const at::Tensor& tensor = value.toTensor();
        ValueType& type = edit.change(ref.node).outputs.at(ref.index).type;
        type.dtype = fromScalarType(tensor.scalar_type());
        type.shapeKnown = true;
        type.shape.clear();
        for (const std::int64_t size : tensor.sizes())
            type.shape.push_back(Dim::fixed(size));
        return {};
    };
    QS_CHECK(interpreter.run(inputs, see, job));
    return edit.build();
}

} // namespace qs
