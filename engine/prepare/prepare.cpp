// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/prepare.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/pass.h"
#include "engine/prepare/fold_weights.h"
#include "engine/prepare/fuse_conv_bn.h"
#include "engine/prepare/insert_observers.h"
#include "engine/prepare/observe_modules.h"

#include <array>

namespace qs {

namespace {

/// Folds weights and batch norms as the plan says; updates `valueOf`.
Result<GraphPtr> withFusedLayers(const GraphPtr& model, const Plan& plan, ValueMap& valueOf)
{
    const auto draft = makeFreedLater<GraphEdit>(*model);
    GraphEdit& edit = *draft;
    edit.setTensors(TensorStore::over(tensorsOf(*model)));
    QS_TRY(const bool folded, foldWeights(edit, model, plan));
    QS_TRY(const bool fused, fuseConvBn(edit, plan, valueOf));
    if (!folded && !fused)
        return model;
    edit.eraseDead();
    return std::make_shared<const Graph>(edit.build());
}

/// Inserts the plan's observers, including those inside custom modules.
Result<GraphPtr> withObservers(const GraphPtr& fused, PreparedModel& prepared,
                               const JobContext& job)
{
    const auto draft = makeFreedLater<GraphEdit>(*fused);
    GraphEdit& edit = *draft;
    if (fused == prepared.model) // a fused graph already has a separate store
        edit.setTensors(TensorStore::over(tensorsOf(*fused)));
    observeModules(edit, *prepared.model, *prepared.plan);
    QS_TRY(prepared.observedWeight, observedWeights(edit, *prepared.plan));
    QS_CHECK(insertObservers(edit, *prepared.plan, prepared.valueOf, job));
    QS_CHECK(job.check());
    return std::make_shared<const Graph>(edit.build());
}

} // namespace

Result<PreparedPtr> prepareModel(GraphPtr model, PlanPtr plan, const JobContext& job)
{
    const InferenceScope scope;
    auto prepared = std::make_shared<PreparedModel>();
    prepared->valueOf = identityMap(*model);
    prepared->model = std::move(model);
    prepared->plan = std::move(plan);
    const std::array passes {
        Pass("fuse-batch-norms",
             [&](const GraphPtr& graph, const JobContext& job) {
                 job.report("prepare", "fusing", 0.1);
                 return withFusedLayers(graph, *prepared->plan, prepared->valueOf);
             }),
        Pass("insert-observers",
             [&](const GraphPtr& graph, const JobContext& job) {
                 job.report("prepare", "inserting observers", 0.8);
                 return withObservers(graph, *prepared, job);
             }),
    };
    QS_TRY(prepared->graph, runPasses(prepared->model, passes, job));
    QS_CHECK(job.check());
    std::erase_if(prepared->valueOf,
                  [&](const auto& entry) { return !prepared->graph->tryGet(entry.second.node); });
    return prepared;
}

} // namespace qs
