// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/class_scores.h"
#include "engine/compare/output_run.h"
#include "engine/pipeline/tune/tune_data.h"

namespace qs {

/// The model that a recipe gives, converted up to the reference form.
struct TrialModel
{
    CalibrationPtr calibration;
    std::shared_ptr<const Addresses> addresses; ///< of the edited model
    std::shared_ptr<const ConvertedModel> converted;
    double int8Macs = 1;
};

/// Measures recipes on search data and guard data against the outputs of the search's initial
/// model, which it keeps. One thread at a time.
class TuneMeasure
{
public:
    /// Reads the data and runs the float model. Errors: those of `readTuneData`.
    static Result<TuneMeasure> create(StageChain& chain, const TuneRequest& request,
                                      const JobContext& job);

    /// Indices of the recipe's cures that do not fit the model with the others.
    Result<std::vector<std::size_t>> unfit(const Recipe& recipe, const JobContext& job) const;
    /// The ranges that a recipe's observers choose. Errors: nothing is quantized; those of the
    /// stages.
    Result<CalibrationPtr> calibrated(const Recipe& recipe, const JobContext& job) const;
    Result<TrialModel> make(const Recipe& recipe, const JobContext& job) const;
    /// Sets the trial's figures. Errors: the goal needs a figure that this model does not have;
    /// those of the metric.
    Result<void> measure(const TrialModel& model, Trial& trial, const JobContext& job) const;
    /// The seconds of rank 0, which decides when the time is used up. Collective.
    Result<double> sharedSeconds(double seconds, const JobContext& job) const;
    /// Fails (Internal) unless this rank makes the trial of this key with all others. Collective.
    Result<void> checkSameTrial(const Key& key, const JobContext& job) const;
    bool isShared() const { return !m_chain.group()->isAlone(); }
    /// Times of the operators on the first batch, of rank 0. Errors: those of `measureTimes`.
    Result<std::vector<UnitTime>> times(const TrialModel& model, const Recipe& recipe,
                                        const JobContext& job) const;
    /// Trains from the recipe's model, with the guard held back, and saves the model at
    /// `TuneRequest::trainedFile`. Continues an interrupted training unless the request limits the
    /// time. Errors: those of `StageChain::train`.
    Result<SavedTraining> train(const TrialModel& model, const Recipe& recipe,
                                TrainingSettings settings, const JobContext& job) const;
    const Dataset& searchData() const { return *m_data.search; }
    std::int64_t searchSamples() const { return m_data.searchSamples; }
    std::int64_t searchBatches() const { return m_data.search->batchCount(); }
    std::int64_t guardSamples() const { return m_data.guardSamples; }
    /// Sentences on what was left out, and on a guard that is too small.
    const std::vector<std::string>& notes() const { return m_data.notes; }
    bool reaches(const TrialFigures& figures) const;
    /// Whether the figures include the one that the goal needs.
    bool isTold(const TrialFigures& figures) const;

private:
    TuneMeasure(StageChain& chain, const TuneRequest& request)
        : m_chain(chain)
        , m_request(request)
    {
    }
    Result<double> metricOf(const TrialModel& model, const JobContext& job) const;
    /// The metric of rank 0, which alone runs its command.
    Result<double> sharedMetric(const TrialModel& model, const JobContext& job) const;
    /// The outputs of a batch in the model's order.
    Result<std::vector<at::Tensor>> outputsOf(const TrialModel& model, OutputRun& run,
                                              const CleanBatch& clean, const JobContext& job) const;
    /// The same of all batches. Each is a task that one of the ranks takes.
    Result<std::vector<std::vector<at::Tensor>>>
    sharedOutputs(const TrialModel& model, OutputRun& run, const JobContext& job) const;

    StageChain& m_chain;
    const TuneRequest& m_request;
    TuneData m_data;
    GraphPtr m_float; ///< the search's initial model
    std::vector<ClassScores> m_scores;
    std::vector<std::string> m_names; ///< of the outputs
    bool m_holdsAll = false; ///< the guard is too small: all data decide about the goal
};

/// Share of the multiplications whose operator is quantized, both inputs and weight; 1 without
/// multiplications.
double int8Share(const Graph& model, const Plan& plan);

} // namespace qs
