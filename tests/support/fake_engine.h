// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/engine_service.h"

#include <atomic>
#include <mutex>

namespace qs {

/// A residual block between a stem and a classifier, with module scopes and parameters:
/// x -> [conv1 bn1 relu] -> block{[conv1 bn1 relu1] [conv2 bn2] [add relu2]} -> pool -> flatten ->
/// fc.
/// `path`: the path of its file.
GraphPtr fakeModel(const std::string& path = "/models/net.pt2");
/// Returns a chain of `length` relu operators without modules.
GraphPtr fakeChain(int length);

/// Sixteen samples of four classes; the class of every fifth changes.
SampleErrorsPtr fakeSamples(bool isLabelled);

/// Each quantized unit has half the noise of its predecessor.
std::shared_ptr<const Blame> fakeBlame(const Plan& plan);
/// Causes of the greatest sites: a weight, then outlier channels. Each has a cure; the second two.
std::vector<Cause> fakeCauses(const Graph& model, const Blame& blame, int count);

/// An engine that returns invented but consistent results at once: every operator is quantized
/// unless a rule keeps it float. Members make it fail, wait or count calls.
class FakeEngine : public EngineService
{
public:
    Result<GraphPtr> open(const std::string& path, const JobContext& job) override;
    Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe,
                                  const JobContext& job) override
    {
        return editModel(std::move(file), recipe.edits, job);
    }
    Result<void> saveModel(const GraphPtr&, const Recipe&, const RunSettings&, const std::string&,
                           const JobContext&) override
    {
        return fail(ErrorCode::Unsupported, "the fake engine writes nothing");
    }
    Result<void> savePartInputs(const EditedModelPtr&, const Recipe&, const RunSettings&,
                                const std::string&, const JobContext&) override
    {
        return fail(ErrorCode::Unsupported, "the fake engine runs nothing");
    }
    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe,
                         const JobContext& job) override;
    Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan, const Recipe& recipe,
                                 const JobContext& job) override;
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override;
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override;
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override;
    /// Each unit has half the noise of its predecessor; the first has a cause.
    Result<DiagnosisPtr> why(const CompareRequest& request, const BlameOptions& options,
                             const JobContext& job) override;
    /// Five trials from 12.0 to 21.2 dB; the last keeps the most in int8 of those above 20 dB.
    Result<TuneState> tune(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
                           const JobContext& job) override;
    /// 0.9 and `int8Metric`, whatever the metric is.
    Result<Evaluation> evaluate(const CompareRequest&, const UserMetric&,
                                const JobContext&) override
    {
        ++evaluations;
        return failMetric ? Result<Evaluation>(fail(ErrorCode::BadInput, "your metric failed"))
                          : Evaluation {0.9, int8Metric};
    }
    /// A preview of two samples; each rule lowers the output's SQNR by 1 dB.
    Result<PreviewPtr> preview(const PreviewRequest& request, const JobContext& job) override;
    /// Three samples of four channels; later channels lose more.
    Result<ValueInspectionPtr> inspect(const CompareRequest& request,
                                       const InspectionTarget& target,
                                       const JobContext& job) override;
    /// Values of shape [4, 2, 3]: a ramp from 0, and the ramp plus 0.01. Ignores the part.
    Result<SampleValuesPtr> sampleValues(const CompareRequest& request, const SampleWanted& wanted,
                                         const JobContext& job) override;
    /// Images of 8 x 8 pixels, another for each sample.
    Result<std::vector<SampleInput>> sampleInputs(const SampleInputsRequest& request,
                                                  const JobContext& job) override;
    /// Eleven points from 34.2 dB; the best is the ninth with 36.1 dB. Writes the file.
    Result<SavedTraining> train(const TrainRequest& request, const std::string& path,
                                const SeeTraining& see, const JobContext& job) override;
    /// 560 MB, batches of 8, and labels if `labelled`.
    Result<TrainingForecast> forecast(const TrainRequest& request, const JobContext& job) override;
    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) override;
    /// One export passes, the other's runtime is missing.
    Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job) override;
    /// Returns no cached results.
    Recalled recall(const CalibrateRequest&, const JobContext&) override { return {}; }
    Result<std::string> adopt(const CalibrateRequest&, const StoredRun&, const JobContext&) override
    {
        return std::string("the fake engine keeps nothing");
    }
    /// A ramp from -1 to 1 of 144 elements; fails for the classifier's weight.
    Result<ValuePreview> storedValue(const GraphPtr& model, NodeId node,
                                     const JobContext& job) override;
    Result<std::map<std::string, WeightRanges>> uncuredWeights(const GraphPtr&, const Recipe&,
                                                               const JobContext&) override
    {
        return std::map<std::string, WeightRanges>();
    }
    Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) override;
    /// Returns alternatives of activations only.
    Result<std::vector<Alternative>> alternatives(const CalibrationPtr& calibration,
                                                  ObserverId observer, const JobContext&) override
    {
        const ObserverStats* stats = calibration->observations->tryGet(observer);
        return stats ? valueAlternatives(*stats) : std::vector<Alternative>();
    }

    GraphPtr model = fakeModel();
    ScalarTexts scalarTexts; ///< of `model`
    bool labelled = true; ///< the data have labels
    double lossStep = 4; ///< dB that each layer loses more than its predecessor
    std::atomic<int> previews = 0; ///< of stored values
    std::atomic<int> decisionPreviews = 0;
    std::atomic<bool> failCalibration = false;
    std::atomic<bool> waitInCalibration = false; ///< until cancelled
    std::atomic<int> calibrations = 0, comparisons = 0, plans = 0, inspections = 0;
    std::atomic<bool> waitInInspection = false; ///< until cancelled
    std::atomic<bool> waitInBlame = false; ///< until cancelled
    std::atomic<bool> isHealthy = false; ///< no unit has a cause
    std::atomic<int> blames = 0;
    std::atomic<bool> waitInTraining = false; ///< after the fourth point, until cancelled
    std::atomic<bool> failTraining = false;
    std::atomic<int> trainings = 0;
    TrainRequest lastTraining; ///< read it when none runs
    std::atomic<bool> waitInSearch = false; ///< after the third trial, until cancelled
    std::atomic<bool> tellsAfterCancel = false; ///< a cancelled search still passes on its states
    std::atomic<bool> failSearch = false;
    std::atomic<int> searches = 0;
    std::atomic<int> measuredTrials = 0; ///< of all searches, without known ones
    std::atomic<int> causeCount = 1; ///< of a diagnosis, at most 3
    std::atomic<bool> failMetric = false;
    std::atomic<double> int8Metric = 0.875;
    std::atomic<int> evaluations = 0; ///< of the user's metric
    TuneRequest lastSearch; ///< read it when none runs
};

} // namespace qs
