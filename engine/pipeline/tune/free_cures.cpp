// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/range_choice.h"
#include "engine/plan/module_statistics.h"

namespace qs {

namespace {

constexpr int kMostFreeRounds = 5;
constexpr double kLeastGainDb = 0.5; ///< gain of a round that justifies another one
constexpr double kMovedDb = 6; ///< change since ranges were chosen that justifies choosing again

/// Notes if the weights alone cause more noise than the goal allows: then neither other ranges nor
/// float results help.
void noteWeights(TuneSearch& search, const Blame& blame)
{
    double weights = 0;
    for (const SiteBlame& one : blame.sites)
        weights += one.site.kind == BlameSite::Kind::Weight ? one.expected : 0;
    if (tellsNoise(search.request().goal) && shareDb(weights) < aimedDb(search.request().goal))
        search.state().notes.push_back("weights alone leave " + fixedText(shareDb(weights), 1)
                                       + " dB: without float operators the goal is out of reach");
}

/// Notes what the blame does not cover: one line each, or only the number if there are many.
void noteLeftOut(TuneSearch& search, const Blame& blame)
{
    constexpr std::size_t kMostLines = 3;
    std::vector<std::string>& notes = search.state().notes;
    const std::size_t count = blame.leftOut.size();
    notes.insert(notes.end(), blame.leftOut.begin(),
                 blame.leftOut.begin() + std::ptrdiff_t(std::min(count, kMostLines)));
    if (count > kMostLines)
        notes.push_back("the same holds for " + std::to_string(count - kMostLines)
                        + " more places, which 'why' lists");
}

/// What a round adds to the cures of earlier rounds.
enum class Round : std::uint8_t
{
    Free, ///< the cheapest cure of each cause; it costs no multiplication
    Split, ///< outlier channels split off linears
    Ranges ///< free cures, and for each value the range of least predicted noise
};

std::string_view stageName(Round round)
{
    switch (round) {
    case Round::Free:
        return "free";
    case Round::Split:
        return "split";
    case Round::Ranges:
        return "ranges";
    }
    return "";
}

bool isOfRound(CureKind kind, Round round)
{
    if (kind == CureKind::Split || round == Round::Split)
        return kind == CureKind::Split && round == Round::Split;
    return kind != CureKind::Float && (kind != CureKind::Range || round != Round::Ranges);
}

/// Adds, for each cause, its first cure that the round takes. True if one is new.
bool addProposed(const TuneSearch& search, Trial& trial, const std::vector<Cause>& causes,
                 Round round)
{
    bool differs = false;
    for (const Cause& cause : causes)
        for (const Proposal& proposal : cause.proposals) {
            if (!isOfRound(proposal.cure.kind, round) || !search.isAllowed(proposal.cure))
                continue;
            differs = search.add(trial, proposal.cure, proposal.qconfig) || differs;
            break;
        }
    return differs;
}

/// Makes one trial with all cures of the round in addition to those of earlier rounds. True if
/// there was a new cure to try.
Result<bool> tryRound(TuneSearch& search, Round round, bool isFirst)
{
    const Trial base = search.best();
    Trial trial = base;
    trial.stage = stageName(round);
    trial.predictedDb.reset();
    QS_TRY(const TrialModel model, search.modelOf(base));
    QS_TRY(const BlamePtr blame, search.blamed(model, base));
    const std::vector<Cause> causes = causesOf(*model.calibration, *blame, model.addresses);
    if (isFirst) {
        search.state().blame = blame;
        search.state().causes = causes;
        const PreparedModel& prepared = *model.calibration->prepared;
        search.state().front = predictedFront(*blame, *prepared.model, *prepared.plan);
        noteLeftOut(search, *blame);
        noteWeights(search, *blame);
        QS_CHECK(search.see());
    }
    bool differs = addProposed(search, trial, causes, round);
    if (round != Round::Split) {
        for (const Cure& cure : floatCures(search, search.knapsack(model, *blame).freeOnes()))
            differs = search.add(trial, cure) || differs;
        const bool wasNeedless = trial.floatNeedless;
        trial.floatNeedless = wasNeedless || search.isAllowed(CureKind::FloatResult);
        differs = differs || trial.floatNeedless != wasNeedless;
    }
    if (round == Round::Ranges) {
        QS_TRY(const auto ranges, chooseRanges(search, base, model, *blame));
        for (const Proposal& proposal : ranges)
            differs = search.add(trial, proposal.cure, proposal.qconfig) || differs;
    }
    if (differs)
        QS_CHECK(search.attempt(std::move(trial)));
    return differs;
}

} // namespace

Result<void> tryFreeCures(TuneSearch& search)
{
    std::optional<double> chosenAt; // dB of the trial for which ranges were chosen
    bool isSplit = !search.isAllowed(CureKind::Split);
    for (int round = 0; round < kMostFreeRounds && !search.state().isReached() && !search.isSpent();
         ++round) {
        const double before = search.best().search.db;
        // a split costs a few multiplications
        if (round > 0 && !isSplit && search.best().int8Macs > search.request().keepInt8) {
            isSplit = true;
            QS_TRY(const bool isTried, tryRound(search, Round::Split, false));
            if (isTried)
                continue;
        }
        const bool choosesRanges = round > 0 && search.isAllowed(CureKind::Range)
            && (!chosenAt || before > *chosenAt + kMovedDb);
        if (choosesRanges)
            chosenAt = before;
        QS_CHECK(tryRound(search, choosesRanges ? Round::Ranges : Round::Free, round == 0));
        if (search.best().search.db < before + kLeastGainDb && (round > 0 || chosenAt))
            break;
    }
    return {};
}

} // namespace qs
