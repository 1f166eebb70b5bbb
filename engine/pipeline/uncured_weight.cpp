// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/uncured_weight.h"

#include "engine/base/torch_guard.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/execute/interpreter.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/plan/summaries/group_root.h"
#include "engine/prepare/prepare.h"

#include <algorithm>

namespace qs {

namespace {

Recipe withoutModelCures(Recipe recipe)
{
    std::erase_if(recipe.cures, [&recipe](const Cure& cure) {
        Recipe alone;
        alone.cures = {cure};
        return !modelCures(alone).empty();
    });
    return recipe;
}

} // namespace

Result<std::optional<WeightRanges>> uncuredWeight(StageChain& chain, const GraphPtr& file,
                                                  const Recipe& recipe, const std::string& node,
                                                  const JobContext& job)
{
    const std::optional<WeightRanges> none;
    if (modelCures(recipe).empty())
        return none;
    const Recipe plain = withoutModelCures(recipe);
    QS_TRY(const EditedModelPtr edited, chain.edited(file, plain, job));
    QS_TRY(const PlanPtr plan, chain.plan(edited->graph, plain, job));
    const Node* found = edited->graph->tryFind(node);
    if (!found)
        return none;
    const NodeId root = groupRoot(*edited->graph, *plan, found->id);
    const auto observer
        = std::find_if(plan->observers.begin(), plan->observers.end(),
                       [&](const auto& one) { return one.isWeight && one.weightOwner == root; });
    if (observer == plan->observers.end())
        return none;
    QS_TRY(const PreparedPtr prepared, prepareModel(edited->graph, plan, job));
    const auto weight = prepared->observedWeight.find(observer->id);
    if (weight == prepared->observedWeight.end())
        return none;
    QS_TRY(const Interpreter run, Interpreter::create(prepared->graph, {}, job));
    QS_TRY(const at::IValue value, run.computeConstant(weight->second));
    if (!value.isTensor())
        return none;
    return guardTorchValue<std::optional<WeightRanges>>([&]() -> std::optional<WeightRanges> {
        const auto watching = makeObserver(observer->id, observer->spec);
        watching->observe(value.toTensor());
        const ObserverStats stats = watching->stats();
        if (stats.channelMin.empty())
            return std::nullopt;
        return WeightRanges {{stats.channelMin.begin(), stats.channelMin.end()},
                             {stats.channelMax.begin(), stats.channelMax.end()}};
    });
}

} // namespace qs
