// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame_sites.h"
#include "engine/correct/correct_layers.h"
#include "engine/edit/addresses.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/tune.h"
#include "engine/pipeline/tune/tune_measure.h"

#include <chrono>

namespace qs {

/// Shared by the stages of a search: its state, the trials and the budget. One thread at a time.
/// Borrows all arguments of `create` except the measure.
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

    /// Whether the request allows any cures of the kind, or this cure.
    bool isAllowed(CureKind kind) const;
    bool isAllowed(const Cure& cure) const;
    /// True once the budget is used up; the state then names the limit (`stopped`).
    bool isSpent();
    /// What is left of `TuneRequest::seconds`, at least 0; none without a limit.
    std::optional<double> secondsLeft() const;
    /// Target for the predicted noise over signal of a trial: that of the goal, minus two standard
    /// errors over samples.
    double aimedNoise(const Trial& base) const;
    /// Ratio of a trial's noise to that of the goal, on the search or guard data, whichever is
    /// greater; below 1 if the noise is less.
    double excess(const Trial& trial) const;

    /// The trials of an earlier search, with their trainings.
    const KnownTrials& known() const { return m_known; }
    /// The trial with the figures that an earlier search measured; none if it did not.
    std::optional<Trial> withKnownFigures(Trial trial) const;
    bool isBetter(const Trial& one, const Trial& other) const;
    /// Measures a trial, or takes its known figures, and adds it to the state. If a trial after the
    /// first cannot be made (for example because nothing is quantized), adds a note and returns
    /// false; also if none of its new cures fits the model.
    Result<bool> attempt(Trial trial);
    /// The model of a trial; that of the last measured trial is cached.
    Result<TrialModel> modelOf(const Trial& trial) const;
    /// The sites that cause the noise of the trial's worst outputs, over the search data, and what
    /// they would cause with other ranges.
    Result<BlamePtr> blamed(const TrialModel& model, const Trial& trial,
                            std::optional<std::int64_t> exact = std::nullopt,
                            const RangesToTry& tries = {});
    /// Trains the model of the trial (`TuneMeasure::train`), in at most so many steps and the time
    /// that is left.
    Result<SavedTraining> trained(const TrialModel& model, const Trial& trial, int steps);
    /// Forward passes that so many steps of a training count as.
    std::int64_t forwardsOf(int steps) const;
    /// The ranges of a trial that need not be measured.
    Result<CalibrationPtr> calibrationOf(const Trial& trial) const;
    /// The numbers of these layers over the search data.
    Result<Corrections> corrected(const TrialModel& model, const CorrectionOptions& options);
    /// The operators of the model that may be made float, with noise and cost of each.
    FloatKnapsack knapsack(const TrialModel& model, const Blame& blame) const;
    /// Passes the state to the caller's `see`.
    Result<void> see() const { return m_see(m_state); }
    /// Adds a cure to a trial, with its qconfig if it names a new one. Replaces an earlier cure of
    /// the same kind at the same place. Returns false if the cure is not allowed or already
    /// present.
    bool add(Trial& trial, Cure cure, const std::optional<QConfig>& qconfig = std::nullopt) const;

private:
    TuneSearch(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
               const JobContext& job, TuneMeasure measure);
    Result<void> findForbidden();
    Key keyOf(const Recipe& recipe) const;
    /// Leaves out the cures that do not fit the model; `add` refuses them from then on.
    Result<void> dropUnfit(Trial& trial);
    double seconds() const; ///< since the search began
    /// If time is the cost: measures the times of operators once, and sets the trial's time.
    Result<void> addTime(Trial& trial);

    const TuneRequest& m_request;
    const KnownTrials& m_known;
    const SeeTune& m_see;
    const JobContext& m_job;
    TuneMeasure m_measure;
    Addresses m_addresses;
    std::vector<std::pair<CureKind, ValueAddress>> m_forbidden;
    std::vector<Cure> m_unfit;
    TuneState m_state;
    TrialModel m_made; ///< model of the trial with key `m_madeOf`
    Key m_madeOf;
    double m_sharedSeconds = 0; ///< of rank 0 at the last trial, on several ranks
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Cures that make the chosen operators float, for those that have an address and may be float.
std::vector<Cure> floatCures(const TuneSearch& search, const FloatChoice& choice);

/// Stages A and B: finds causes, then tries all cures that cost no multiplication at once; repeats
/// while that gains.
Result<void> tryFreeCures(TuneSearch& search);
/// Stage E: chooses how weights are rounded and what is added to biases (`correctLayers`), which
/// costs no multiplication, so it comes before float operators.
Result<void> tryRounding(TuneSearch& search);
/// Stage D: makes as few operators float as the prediction requires, corrected by measurements.
Result<void> tryFloatOperators(TuneSearch& search);
/// Stage F: trains the best trial's model, if that is allowed, within the budget and predicted to
/// gain. Keeps the trained file only if its trial is the best.
Result<void> tryTraining(TuneSearch& search);
/// If the goal was missed, adds to the state the remaining noise and the cures that `keepInt8`
/// forbids.
Result<void> tellRemaining(TuneSearch& search);

} // namespace qs
