// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/prepare.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_verifier.h"
#include "engine/prepare/fuse_conv_bn.h"
#include "engine/prepare/insert_observers.h"
#include "engine/prepare/observe_modules.h"
#include "engine/prepare/weighted_op.h"

namespace qs {

namespace {

ValueMap identityMap(const Graph& graph)
{
    ValueMap map;
    for (const NodePtr& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            map[{node->id, i}] = {node->id, i};
    return map;
}

/// Each weight observer's value: the (folded) parameter itself, as the layer stores it.
Result<std::unordered_map<ObserverId, ValueRef>> observedWeights(const GraphEdit& edit,
                                                                 const Plan& plan)
{
    std::unordered_map<ObserverId, ValueRef> weights;
    for (const PlannedObserver& observer : plan.observers) {
        if (!observer.isWeight)
            continue;
        const Node* owner = edit.tryGet(observer.weightOwner);
        const auto op = owner ? weightedOp(*owner) : std::nullopt;
        ValueRef weight;
        if (op)
            weight = argumentRef(*owner, op->weight);
        else if (owner && !observer.edges.empty())
            weight = observer.edges.front().value; // one of several, which nothing folds into
        else if (owner)
            weight = argumentRef(*owner, "weight");
        if (!weight || !edit.contains(weight.node))
            return fail(makeError(ErrorCode::Internal, "the plan observes a weight it has not")
                            .atNode(owner ? owner->name : std::string()));
        weights[observer.id] = weightPath(edit, weight).source;
    }
    return weights;
}

} // namespace

Result<PreparedPtr> prepareModel(GraphPtr model, PlanPtr plan, const JobContext& job)
{
    const InferenceScope scope;
    auto prepared = std::make_shared<PreparedModel>();
    prepared->valueOf = identityMap(*model);

    GraphEdit edit(*model);
    edit.setTensors(TensorStore::over(model->tensors()));
    job.report("prepare", "fusing", 0.1);
    QS_TRY(const bool fused, fuseConvBn(edit, *plan, prepared->valueOf));
    if (fused) {
        edit.eraseDead();
        QS_CHECK(verifyGraph(edit.build(), job));
    }
    QS_CHECK(job.check());

    job.report("prepare", "inserting observers", 0.8);
    QS_CHECK(job.check());
    const bool custom = observeModules(edit, *model, *plan);
    QS_TRY(prepared->observedWeight, observedWeights(edit, *plan));
    QS_TRY(const bool observed, insertObservers(edit, *plan, prepared->valueOf, job));
    QS_CHECK(job.check());
    auto graph = std::make_shared<const Graph>(edit.build());
    QS_CHECK(job.check());
    if (observed || custom)
        QS_CHECK(verifyGraph(*graph, job));
    QS_CHECK(job.check());

    std::erase_if(prepared->valueOf,
                  [&](const auto& entry) { return !graph->tryGet(entry.second.node); });
    prepared->model = std::move(model);
    prepared->plan = std::move(plan);
    prepared->graph = std::move(graph);
    return prepared;
}

} // namespace qs
