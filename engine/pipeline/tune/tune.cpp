// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/keys/data_identity.h"
#include "engine/pipeline/tune/tune_search.h"

#include <algorithm>

namespace qs {

namespace {

/// Whether `one` is at least as good in all figures and better in at least one.
bool beats(const Trial& one, const Trial& other)
{
    const double ms = one.ms.value_or(0), otherMs = other.ms.value_or(0);
    return one.guard.db >= other.guard.db && one.int8Macs >= other.int8Macs && ms <= otherMs
        && (one.guard.db > other.guard.db || one.int8Macs > other.int8Macs || ms < otherMs);
}

Result<void> searched(TuneSearch& search)
{
    TuneState& state = search.state();
    QS_CHECK(search.see());
    Trial start;
    start.stage = "start";
    QS_CHECK(search.attempt(std::move(start)));
    if (state.isReached()) {
        state.stopped = "the goal is reached as it is: nothing was changed";
        return {};
    }
    QS_CHECK(tryFreeCures(search));
    if (!state.isReached() && !search.isSpent())
        QS_CHECK(tryRounding(search));
    if (!state.isReached() && !search.isSpent())
        QS_CHECK(tryFloatOperators(search));
    if (!state.isReached())
        QS_CHECK(tryTraining(search));
    if (!state.isReached() && search.best().stage == "train" && !search.isSpent())
        QS_CHECK(tryRounding(search)); // of the trained weights
    if (state.isReached())
        state.stopped = "the goal is reached";
    else if (state.stopped.empty())
        state.stopped = "no further cure is predicted";
    if (!state.isReached())
        QS_CHECK(tellRemaining(search));
    return {};
}

} // namespace

Result<CureKind> parseCureKind(const std::string& name)
{
    if (const auto kind = cureKindFromName(name))
        return *kind;
    return fail(makeError(ErrorCode::Usage, "there is no cure " + inQuotes(name))
                    .withHint(suggestName(name, cureKindNames())));
}

Result<ForbiddenCure> parseForbidden(const std::string& text)
{
    const auto at = text.find('@');
    if (at == std::string::npos || at + 1 == text.size())
        return fail(makeError(ErrorCode::Usage, inQuotes(text) + " is not CURE@NODE")
                        .withHint("give for example float@add_6"));
    QS_TRY(const CureKind kind, parseCureKind(text.substr(0, at)));
    return ForbiddenCure {kind, text.substr(at + 1)};
}

Result<Key> dataContent(const TuneRequest& request, const JobContext& job)
{
    ContentHashes hashes;
    KeyBuilder key("tuned data");
    for (const std::string& path :
         {request.settings.calibrationData, request.settings.compared()}) {
        QS_TRY(const std::string content, hashes.of(path, request.file->info().sha256, job));
        key.add(content);
    }
    return key.key();
}

Recipe tunedRecipe(Recipe recipe, const Trial& trial)
{
    if (std::any_of(trial.cures.begin(), trial.cures.end(),
                    [](const Cure& cure) { return cure.kind == CureKind::Train; }))
        recipe = untrained(std::move(recipe));
    for (const auto& [name, qconfig] : trial.qconfigs)
        recipe.qconfigs[name] = qconfig;
    recipe.cures.insert(recipe.cures.end(), trial.cures.begin(), trial.cures.end());
    recipe.floatNeedless = recipe.floatNeedless || trial.floatNeedless;
    return recipe;
}

std::vector<std::size_t> tuneFront(const std::vector<Trial>& trials)
{
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto isBeaten = [&](const Trial& other) { return beats(other, trials[i]); };
        if (std::none_of(trials.begin(), trials.end(), isBeaten))
            front.push_back(i);
    }
    return front;
}

Result<TuneState> tune(StageChain& chain, const TuneRequest& request, const KnownTrials& known,
                       const SeeTune& see, const JobContext& job)
{
    QS_TRY(TuneMeasure measure, TuneMeasure::create(chain, request, job));
    QS_TRY(TuneSearch search, TuneSearch::create(request, known, see, job, std::move(measure)));
    QS_CHECK(searched(search));
    QS_CHECK(search.see());
    return std::move(search.state());
}

} // namespace qs
