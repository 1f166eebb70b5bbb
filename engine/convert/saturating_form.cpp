// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/saturating_form.h"

#include "engine/base/torch_guard.h"
#include "engine/convert/insert_qdq.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/quantized_target.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::string_view, 2> kBounds {"quant_min", "quant_max"};

/// The node's arguments with the bounds of the other; nothing where they are the same.
std::optional<std::vector<NamedArgument>> boundsOf(const Node& node, const Node& other)
{
    bool differs = false;
    std::vector<NamedArgument> args = node.args;
    for (NamedArgument& argument : args)
        for (const std::string_view bound : kBounds)
            if (argument.name == bound) {
                const Argument* own = other.tryArg(bound);
                differs = differs || (own && !(*own == argument.value));
                argument.value = own ? *own : argument.value;
            }
    return differs ? std::optional(std::move(args)) : std::nullopt;
}

/// `graph` with the bounds that the same nodes have in `other`; counts what they quantize.
GraphPtr withBounds(const GraphPtr& graph, const Graph& other, std::int64_t& values)
{
    GraphEdit edit(*graph);
    bool changed = false;
    for (const NodePtr& node : graph->nodes()) {
        const Node* twin = other.tryGet(node->id);
        if (!twin)
            continue;
        if (auto args = boundsOf(*node, *twin)) {
            values += isQuantizeStep(node->target) ? 1 : 0;
            edit.setArgs(node->id, std::move(*args));
            changed = true;
        }
        std::vector<GraphPtr> bodies = node->subgraphs;
        for (std::size_t i = 0; i < bodies.size() && i < twin->subgraphs.size(); ++i)
            bodies[i] = withBounds(bodies[i], *twin->subgraphs[i], values);
        if (bodies != node->subgraphs) {
            edit.change(node->id).subgraphs = std::move(bodies);
            changed = true;
        }
    }
    return changed ? std::make_shared<const Graph>(edit.build()) : graph;
}

} // namespace

Result<SaturatingForm> saturatingForm(const ConvertedModel& model, const JobContext& job)
{
    SaturatingForm made {model.reference};
    ConvertedModel other;
    other.prepared = model.prepared;
    other.qparams = model.qparams;
    // What the moment chooses keeps its bounds: it is chosen for the values that are there.
    QS_CHECK(guardTorch([&] { return buildReference(other, false, job, Saturation::Observer); }));
    made.graph = withBounds(model.reference, *other.reference, made.values);
    return made;
}

} // namespace qs
