// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/edit/cures/cure_functions.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/given_observations.h"
#include "engine/import/importer.h"
#include "engine/import/trained/kept_ranges.h"

#include <ATen/ATen.h>

#include <unordered_map>

namespace qs {

namespace {

/// Parameters and buffers by their path.
std::unordered_map<std::string, const Node*> parametersOf(const Graph& graph)
{
    std::unordered_map<std::string, const Node*> parameters;
    for (const NodePtr& node : graph.nodes())
        if (node->kind == NodeKind::Parameter)
            parameters.emplace(node->target, node.get());
    return parameters;
}

/// The trained model's ranges, at the values and readers of the same names.
GivenObservations rangesFor(const Graph& model, const Graph& trained)
{
    const ValuesByName values = valuesByName(model);
    const auto same = [&](const Node& node, std::uint32_t index) {
        const auto found = values.find(node.outputs.empty() ? "" : node.outputs.at(index).name);
        return found == values.end() ? ValueRef() : found->second;
    };
    GivenObservations ranges;
    for (GivenObservation given : givenObservations(trained)) {
        given.value = same(trained.get(given.value.node), given.value.index);
        for (NodeId& reader : given.readers)
            reader = same(trained.get(reader), 0).node;
        std::erase_if(given.readers, [](NodeId reader) { return !reader; });
        if (given.value)
            ranges.push_back(std::move(given));
    }
    return ranges;
}

} // namespace

Result<EditedNodes> takeTraining(EditDraft& draft, const Cure& cure)
{
    QS_CHECK(checkRecorded(cure.file, cure.sha256, "cure",
                           "train again, or take the cure out of the recipe"));
    QS_TRY(const GraphPtr trained, importModel(cure.file, draft.job()));
    const InferenceScope scope;
    const Graph& model = *draft.before();
    const auto fresh = parametersOf(*trained);
    const auto from = tensorsOf(*trained);
    const auto to = TensorStore::over(tensorsOf(model));
    EditedNodes touched;
    std::unordered_map<std::uint32_t, TensorId> replaced; // a tensor of several nodes stays one
    for (const NodePtr& node : model.nodes()) {
        if (node->kind != NodeKind::Parameter)
            continue;
        const std::string& path = node->target;
        const auto found = fresh.find(path);
        if (found == fresh.end())
            return refuse("the trained model has no parameter " + inQuotes(path),
                          "a training belongs to the model that it was made from");
        QS_TRY(const at::Tensor was, to->getTensor(node->tensor));
        QS_TRY(const at::Tensor now, from->getTensor(found->second->tensor));
        if (was.sizes() != now.sizes() || was.scalar_type() != now.scalar_type())
            return refuse("the trained model's parameter " + inQuotes(path) + " has another shape",
                          "a training belongs to the model that it was made from");
        if (at::equal(was, now))
            continue;
        const auto [at, isNew] = replaced.try_emplace(node->tensor.value());
        if (isNew)
            at->second = to->add(now);
        Node& changed = draft.graph().change(node->id);
        changed.tensor = at->second;
        changed.tensorSha256 = contentOf(now);
        touched.push_back(node->id);
    }
    if (auto* held = dynamic_cast<HoldsGivenObservations*>(to.get()))
        held->given = std::make_shared<const GivenObservations>(rangesFor(model, *trained));
    draft.graph().setTensors(to);
    return touched;
}

} // namespace qs
