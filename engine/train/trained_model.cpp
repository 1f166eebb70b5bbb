// SPDX-License-Identifier: Apache-2.0
#include "engine/train/trained_model.h"

#include "engine/execute/tensor_store.h"
#include "engine/graph/given_observations.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/ATen.h>

#include <map>

namespace qs {

namespace {

/// Ranges of one fake quantizer, one for each place where it stands.
class RangePlaces
{
public:
    RangePlaces(const Graph& model, GivenObservations& all)
        : m_model(model)
        , m_all(all)
    {
    }

    void add(const PlannedObserver& planned, const GivenObservation& range)
    {
        if (!planned.interior.empty())
            addInterior(planned, range);
        else if (planned.isWeight)
            addWeight(planned, range);
        else
            for (const ObservedEdge& edge : planned.edges)
                addEdge(edge, range);
    }

private:
    void addInterior(const PlannedObserver& planned, GivenObservation given)
    {
        given.value = {planned.weightOwner, 0};
        given.readers = {planned.weightOwner};
        given.interior = planned.interior;
        m_all.push_back(std::move(given));
    }

    void addWeight(const PlannedObserver& planned, GivenObservation given)
    {
        const Node& owner = m_model.get(planned.weightOwner);
        const auto op = weightedOp(owner);
        given.value = op ? argumentRef(owner, op->weight) : ValueRef();
        given.readers = {owner.id};
        if (given.value)
            m_all.push_back(std::move(given));
    }

    void addEdge(const ObservedEdge& edge, GivenObservation given)
    {
        given.value = edge.value;
        for (const Use& use : edge.readers)
            given.readers.push_back(use.node);
        given.isSecond = !edge.readers.empty();
        if (edge.readers.empty())
            for (const Use& use : m_model.users(edge.value))
                given.readers.push_back(use.node);
        m_all.push_back(std::move(given));
    }

    const Graph& m_model;
    GivenObservations& m_all;
};

} // namespace

GraphPtr trainedModel(const TrainingGraph& graph, const TrainingState& state, bool observes)
{
    const Graph& model = *graph.model;
    GivenObservations given;
    RangePlaces places(model, given);
    for (const PlannedObserver& planned : graph.plan->observers)
        if (const auto range = state.quantizer(planned.id).range(observes))
            places.add(planned, *range);

    const auto store = TensorStore::over(tensorsOf(model));
    if (auto* held = dynamic_cast<HoldsGivenObservations*>(store.get()))
        held->given = std::make_shared<const GivenObservations>(std::move(given));
    GraphEdit edit(model);
    edit.setTensors(store);
    std::map<TensorId, TensorId> replaced; // a tensor of several nodes stays one
    for (const auto& [node, index] : state.nodes()) {
        if (!model.tryGet(node))
            continue;
        const auto [at, isNew] = replaced.try_emplace(model.get(node).tensor);
        if (isNew)
            at->second = store->add(state.tensor(node).detach().cpu().clone());
        edit.change(node).tensor = at->second;
    }
    return std::make_shared<const Graph>(edit.build());
}

} // namespace qs
