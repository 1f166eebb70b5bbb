// SPDX-License-Identifier: Apache-2.0
#include "engine/base/decibels.h"
#include "engine/blame/why_json.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/tune_search.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::size_t kMostRemaining = 5;
constexpr double kLeastGain = 0.1; ///< dB, of a cure that is worth listing
constexpr double kNextStep = 0.5; ///< factor of the noise, if the goal does not state one

/// The predicted noise that the best trial would need: the current prediction divided by the
/// measured excess over the goal, but at most the search's target.
double wantedNoise(const TuneSearch& search, const FloatKnapsack& knapsack)
{
    const Trial& best = search.best();
    if (!tellsNoise(search.request().goal))
        return kNextStep * knapsack.noise();
    return std::min(search.aimedNoise(best), knapsack.noise() / search.excess(best));
}

std::vector<BarredCure> barredCures(const TuneSearch& search, const FloatKnapsack& knapsack,
                                    double wanted)
{
    const double mostFloat = std::max(0.0, search.best().int8Macs - search.request().keepInt8);
    std::vector<BarredCure> barred;
    for (const FloatGroup& group : knapsack.barredBy(wanted, mostFloat)) {
        const double all = knapsack.noise(), gain = shareDb(all - group.share) - shareDb(all);
        if (gain < kLeastGain)
            continue;
        FloatChoice alone;
        alone.groups = {group.operators};
        for (Cure& cure : floatCures(search, alone))
            if (search.isAllowed(cure))
                barred.push_back({std::move(cure), gain, group.macs});
    }
    return barred;
}

} // namespace

Result<void> tellRemaining(TuneSearch& search)
{
    const Trial best = search.best();
    QS_TRY(const TrialModel model, search.modelOf(best));
    QS_TRY(const BlamePtr blame, search.blamed(model, best, 0));
    const Graph& graph = *model.calibration->prepared->model;
    const WhyParts parts {&graph, model.calibration->prepared->plan.get(), nullptr};
    const NodeTitles titles(graph);
    TuneState& state = search.state();
    for (const Cause& cause : causesOf(*model.calibration, *blame, model.addresses)) {
        if (state.remaining.size() >= kMostRemaining)
            break;
        state.remaining.push_back(
            {siteTitle(parts, titles, blame->sites[cause.site].site), cause.code, cause.share});
    }
    const FloatKnapsack knapsack = search.knapsack(model, *blame);
    const double wanted = wantedNoise(search, knapsack);
    const FloatChoice all = knapsack.choose(wanted, 1);
    if (tellsNoise(search.request().goal) && !all.isBounded)
        state.neededInt8 = best.int8Macs - all.floatMacs;
    state.barred = barredCures(search, knapsack, wanted);
    return {};
}

} // namespace qs
