// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/trial_name.h"
#include "engine/pipeline/tune/tune_json.h"
#include "engine/pipeline/tune/tune_state.h"

#include <algorithm>

namespace qs {

namespace {

bool hasCure(const Trial& trial, const Cure& cure)
{
    return std::find(trial.cures.begin(), trial.cures.end(), cure) != trial.cures.end();
}

/// Whether the trial differs from its base by one cure alone.
bool addsOne(const Trial& trial, const Trial& base)
{
    return trial.floatNeedless == base.floatNeedless
        && std::count_if(trial.cures.begin(), trial.cures.end(),
                         [&](const Cure& cure) { return !hasCure(base, cure); })
        == 1;
}

/// Index of the trial, at or before `at`, that added the cure.
std::size_t addedBy(const TuneState& state, std::size_t at, const Cure& cure)
{
    while (state.trials[at].base && hasCure(state.trials[*state.trials[at].base], cure))
        at = *state.trials[at].base;
    return at;
}

} // namespace

Recipe takenRecipe(const TuneRequest& request, const TuneState& state, std::size_t trial)
{
    Trial taken = state.trials.at(trial);
    for (Cure& cure : taken.cures) {
        const std::size_t added = addedBy(state, trial, cure);
        const Trial& one = state.trials[added];
        const Trial* base = one.base ? &state.trials[*one.base] : nullptr;
        cure.by = trialName(searchName(request), added);
        if (base && addsOne(one, *base))
            cure.gainDb = one.guard.db - base->guard.db;
    }
    return tunedRecipe(request.recipe, taken);
}

} // namespace qs
