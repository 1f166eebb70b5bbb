// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/range_choice.h"
#include "engine/plan/module_statistics.h"

namespace qs {

namespace {

constexpr int kMostFreeRounds = 4;
constexpr double kLeastGainDb = 0.5; ///< of a round, for another one
constexpr double kMovedDb = 6; ///< since ranges were chosen, for choosing them again

/// Where weights alone make more noise than the goal allows: no range and no float result helps.
void noteWeights(TuneSearch& search, const Blame& blame)
{
    double weights = 0;
    for (const SiteBlame& one : blame.sites)
        weights += one.site.kind == BlameSite::Kind::Weight ? one.expected : 0;
    if (tellsNoise(search.request().goal) && shareDb(weights) < aimedDb(search.request().goal))
        search.state().notes.push_back("weights alone leave " + fixedText(shareDb(weights), 1)
                                       + " dB: without float operators the goal is out of reach");
}

/// One round: all cures at once that cost no multiplication. What an earlier round took stays.
Result<void> tryRound(TuneSearch& search, bool isFirst, bool choosesRanges)
{
    const Trial base = search.best();
    Trial trial = base;
    trial.stage = choosesRanges ? "ranges" : "free";
    trial.predictedDb.reset();
    QS_TRY(const TrialModel model, search.modelOf(base));
    QS_TRY(const BlamePtr blame, search.blamed(model, base));
    const std::vector<Cause> causes = causesOf(*model.calibration, *blame, search.request().file);
    if (isFirst) {
        search.state().blame = blame;
        search.state().causes = causes;
        for (const std::string& line : blame->leftOut)
            search.state().notes.push_back(line);
        noteWeights(search, *blame);
        QS_CHECK(search.see());
    }
    const Graph& graph = *model.calibration->prepared->model;
    const FloatKnapsack knapsack(*blame, graph, *model.calibration->prepared->plan,
                                 macsByOperator(graph));
    bool differs = false;
    for (const Cure& cure : floatCures(search, knapsack.freeOnes()))
        differs = search.add(trial, cure) || differs;
    for (const Cause& cause : causes)
        for (const Proposal& proposal : cause.proposals) {
            const CureKind kind = proposal.cure.kind;
            if (kind == CureKind::Float || (choosesRanges && kind == CureKind::Range)
                || !search.isAllowed(proposal.cure))
                continue;
            differs = search.add(trial, proposal.cure, proposal.qconfig) || differs;
            break;
        }
    if (choosesRanges) {
        QS_TRY(const auto ranges, chooseRanges(search, base, model, *blame));
        for (const Proposal& proposal : ranges)
            differs = search.add(trial, proposal.cure, proposal.qconfig) || differs;
    }
    const bool wasNeedless = trial.floatNeedless;
    trial.floatNeedless = wasNeedless || search.isAllowed(CureKind::FloatResult);
    if (!differs && trial.floatNeedless == wasNeedless)
        return {};
    return search.attempt(std::move(trial));
}

} // namespace

Result<void> tryFreeCures(TuneSearch& search)
{
    std::optional<double> chosenAt; // dB of the trial that ranges were chosen for
    for (int round = 0; round < kMostFreeRounds && !search.state().isReached() && !search.isSpent();
         ++round) {
        const double before = search.best().search.db;
        const bool choosesRanges = round > 0 && search.isAllowed(CureKind::Range)
            && (!chosenAt || before > *chosenAt + kMovedDb);
        if (choosesRanges)
            chosenAt = before;
        QS_CHECK(tryRound(search, round == 0, choosesRanges));
        if (search.best().search.db < before + kLeastGainDb && (round > 0 || chosenAt))
            break;
    }
    return {};
}

} // namespace qs
