// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/addresses.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/tune.h"
#include "engine/pipeline/tune/tune_measure.h"

#include <chrono>

namespace qs {

/// What the stages of a search share: its state, the trials that were made, and the budget. One
/// thread at a time. Borrows what it is made from.
class TuneSearch
{
public:
    /// Errors: a forbidden cure at a node that the model does not have (Usage).
    static Result<TuneSearch> create(const TuneRequest& request, const KnownTrials& known,
                                     const SeeTune& see, const JobContext& job,
                                     TuneMeasure measure);

    const TuneRequest& request() const { return m_request; }
    const JobContext& job() const { return m_job; }
    const Addresses& addresses() const { return m_addresses; }
    TuneState& state() { return m_state; }
    const Trial& best() const { return m_state.trials.at(m_state.best); }

    /// Whether cures of the kind may be taken at all; whether this one may.
    bool isAllowed(CureKind kind) const;
    bool isAllowed(const Cure& cure) const;
    /// True once the budget is used up, which the state then names.
    bool isSpent();
    /// The noise over signal that a trial should be predicted to have: the goal's, less two
    /// standard errors of what samples differ by.
    double aimedNoise(const Trial& base) const;
    /// By how much the noise of a trial is above the goal's, on the data where it is further off;
    /// below 1 where it is less.
    double excess(const Trial& trial) const;

    /// Measures a trial, or takes over what is known of it, and keeps it. After the first trial,
    /// one that cannot be made (nothing is quantized, say) becomes a note, and the result is false.
    Result<bool> attempt(Trial trial);
    /// The trial as a model; the one that was measured last is at hand.
    Result<TrialModel> modelOf(const Trial& trial) const;
    /// Who causes the noise of the trial's worst outputs, over the search data.
    Result<BlamePtr> blamed(const TrialModel& model, const Trial& trial,
                            std::optional<std::int64_t> exact = std::nullopt);
    /// The same of a trial that was not measured, about the outputs that are worst in `base`.
    Result<BlamePtr> blamedOf(const Trial& trial, const Trial& base);
    /// Which operators of the model may be made float, for the noise and the cost of each.
    FloatKnapsack knapsack(const TrialModel& model, const Blame& blame) const;
    /// Shows the state.
    Result<void> see() const { return m_see(m_state); }
    /// Adds a cure, instead of an earlier one of the trial's of the same kind at the same place,
    /// with its qconfig if it names a new one. False where it is not allowed or there already.
    bool add(Trial& trial, Cure cure, const std::optional<QConfig>& qconfig = std::nullopt) const;

private:
    TuneSearch(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
               const JobContext& job, TuneMeasure measure);
    Result<void> findForbidden();
    Key keyOf(const Recipe& recipe) const;
    /// Measures the times of operators, once, where they are the cost, and the trial's by them.
    Result<void> addTime(Trial& trial);
    bool isBetter(const Trial& one, const Trial& other) const;

    const TuneRequest& m_request;
    const KnownTrials& m_known;
    const SeeTune& m_see;
    const JobContext& m_job;
    TuneMeasure m_measure;
    Addresses m_addresses;
    std::vector<std::pair<CureKind, ValueAddress>> m_forbidden;
    TuneState m_state;
    TrialModel m_made; ///< of the trial `m_madeOf`
    Key m_madeOf;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// A cure for each group of operators, as far as they have addresses and may be float.
std::vector<Cure> floatCures(const TuneSearch& search, const FloatChoice& choice);

/// Stages A and B: causes first, then all cures at once that cost no multiplication, again as long
/// as that gains.
Result<void> tryFreeCures(TuneSearch& search);
/// Stage D: as few float operators as the prediction asks for, corrected by what is measured.
Result<void> tryFloatOperators(TuneSearch& search);
/// What is left of the noise where the goal was missed, and which cures the bound of int8
/// multiplications bars.
Result<void> tellRemaining(TuneSearch& search);

} // namespace qs
