// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/uncured_weights.h"

#include "engine/base/torch_guard.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/execute/interpreter.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/prepare/prepare.h"

namespace qs {

namespace {

WeightRanges rangesOf(const at::Tensor& weight, const PlannedObserver& observer)
{
    const auto watching = makeObserver(observer.id, observer.spec);
    watching->observe(weight);
    const ObserverStats stats = watching->stats();
    return {{stats.channelMin.begin(), stats.channelMin.end()},
            {stats.channelMax.begin(), stats.channelMax.end()}};
}

} // namespace

Result<std::map<std::string, WeightRanges>>
uncuredWeights(StageChain& chain, const GraphPtr& file, const Recipe& recipe, const JobContext& job)
{
    std::map<std::string, WeightRanges> found;
    if (modelCures(recipe).empty())
        return found;
    const Recipe plain = withoutModelCures(recipe);
    QS_TRY(const EditedModelPtr edited, chain.edited(file, plain, job));
    QS_TRY(const PlanPtr plan, chain.plan(edited->graph, plain, job));
    QS_TRY(const PreparedPtr prepared, prepareModel(edited->graph, plan, job));
    QS_TRY(const Interpreter run, Interpreter::create(prepared->graph, {}, job));
    for (const PlannedObserver& observer : plan->observers) {
        QS_CHECK(job.check());
        const auto weight = prepared->observedWeight.find(observer.id);
        if (weight == prepared->observedWeight.end())
            continue;
        QS_TRY(const at::IValue value, run.computeConstant(weight->second));
        if (!value.isTensor())
            continue;
        QS_TRY(WeightRanges ranges,
               guardTorchValue<WeightRanges>([&] { return rangesOf(value.toTensor(), observer); }));
        if (!ranges.low.empty())
            found[edited->graph->get(observer.weightOwner).name] = std::move(ranges);
    }
    return found;
}

} // namespace qs
