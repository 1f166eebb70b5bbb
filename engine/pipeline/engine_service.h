// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/preview.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/edit/edited_model.h"
#include "engine/execute/value_preview.h"
#include "engine/pipeline/metric/user_metric.h"
#include "engine/pipeline/stages.h"
#include "engine/pipeline/tune/tune_state.h"
#include "engine/pipeline/uncured_weights.h"
#include "engine/result/stored_run.h"
#include "engine/values/sample_inputs.h"
#include "engine/values/value_inspection.h"
#include "engine/verify/certificate.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

using ScalarTextsPtr = std::shared_ptr<const ScalarTexts>;

/// The engine as the window sees it, free of LibTorch's headers. `StageChain` implements it; tests
/// of the window use a fake. Each call takes values, returns shared const values or an Error, runs
/// on the caller's thread and stops within 200 ms of a cancel. Thread safe.
class EngineService
{
public:
    virtual ~EngineService() = default;

    /// Begins work that does not depend on the window, for a file that is opened soon.
    virtual void expectOpening(const std::string& /*path*/) { }
    /// Reads a model file (`importModel`).
    virtual Result<GraphPtr> open(const std::string& path, const JobContext& job) = 0;

    /// The model after the recipe's edits and the cures that change it. A further edit is applied
    /// to the cached result. Errors: a cancel; edits that do not fit are reported in the result.
    virtual Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe,
                                          const JobContext& job)
        = 0;

    /// Writes a float model, for example an edited one, as a .pt2. Errors: neither the file nor the
    /// data give the shapes (Unsupported); `savePt2`'s.
    virtual Result<void> saveModel(const GraphPtr& model, const Recipe& recipe,
                                   const RunSettings& settings, const std::string& path,
                                   const JobContext& job)
        = 0;

    /// Writes the values of an extracted part's inputs when the whole model runs on all of the
    /// calibration data (`writePartInputs`).
    virtual Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                        const RunSettings& settings, const std::string& path,
                                        const JobContext& job)
        = 0;

    /// Errors: a target that is required and not named, an unknown backend, a lowering row without
    /// a kernel, `makePlan`'s. Cures that do not fit are among its warnings.
    virtual Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe,
                                 const JobContext& job = {})
        = 0;

    /// The forms of a model without calibration, for display only (`outlineConversion`).
    virtual Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan,
                                         const Recipe& recipe, const JobContext& job)
        = 0;

    /// Refuses quantized models, plans that quantize nothing (`checks.h`) and runs beyond the
    /// user's memory limit (`checkMemoryLimit`); cached results use the memory below the limit.
    /// Runs the data only for observers without cached statistics. If the data show types that the
    /// file does not state, other shapes (`contradictedShapes`; one note reports them) or values
    /// that are not finite (`Calibration::notFinite`), the result's model and plan take them into
    /// account.
    virtual Result<CalibrationPtr> calibrate(const CalibrateRequest& request, const JobContext& job)
        = 0;

    /// Refuses observers that never saw a value, unless the recipe waives them.
    virtual Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) = 0;
    virtual Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) = 0;

    /// The sites that cause the noise of the outputs, over that comparison's data (`blameSites`),
    /// with their causes on this processor (`causesOf`).
    virtual Result<DiagnosisPtr> why(const CompareRequest& request, const BlameOptions& options,
                                     const JobContext& job)
        = 0;

    /// The user's metric for the outputs of the float and the lowered model on that comparison's
    /// data. Errors: those of the metric, and a value that is not finite.
    virtual Result<Evaluation> evaluate(const CompareRequest& request, const UserMetric& metric,
                                        const JobContext& job)
        = 0;

    /// Searches cures that bring the model to a goal (`tune`). Calls `see` on this thread, with
    /// each state; an error that it returns ends the search.
    virtual Result<TuneState> tune(const TuneRequest& request, const KnownTrials& known,
                                   const SeeTune& see, const JobContext& job)
        = 0;

    /// The errors that decisions cause on the first compared samples, by the reference form alone
    /// (`previewErrors`). Uses the cached statistics; an observer without statistics takes its
    /// range from these samples, and the result lists it. Other stages never reuse a preview.
    /// Errors: no calibration on these data; `calibrate`'s.
    virtual Result<PreviewPtr> preview(const PreviewRequest& request, const JobContext& job) = 0;

    /// Inspects one value over the data of that comparison (`inspectValue`).
    virtual Result<ValueInspectionPtr>
    inspect(const CompareRequest& request, const InspectionTarget& target, const JobContext& job)
        = 0;
    /// The value for one sample (`sampleValues`).
    virtual Result<SampleValuesPtr> sampleValues(const CompareRequest& request,
                                                 const SampleWanted& wanted, const JobContext& job)
        = 0;

    /// What the model reads of these samples (`sampleInputs`); runs no model.
    virtual Result<std::vector<SampleInput>> sampleInputs(const SampleInputsRequest& request,
                                                          const JobContext& job)
        = 0;

    /// Writes the forms and the records beside them into the folder, all or nothing
    /// (`ResultFolder`).
    virtual Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) = 0;

    /// Trains with simulated quantization and saves the best state as a .pt2 at `path`. If four
    /// batches of the recipe's size leave no batch for the guard, batches are smaller. `see` is
    /// called on this thread. A cancel after the first measurement ends the training, and its best
    /// state is saved. Errors: a plan that needs a calibration to start from (Usage); those of the
    /// data, of `train` and of `saveModel`.
    virtual Result<SavedTraining> train(const TrainRequest& request, const std::string& path,
                                        const SeeTraining& see, const JobContext& job)
        = 0;

    /// Predicts the memory of a training from shapes; reads one batch of the data. Errors: those of
    /// the data; a memory limit that no batch keeps (Device).
    virtual Result<TrainingForecast> forecast(const TrainRequest& request, const JobContext& job)
        = 0;

    /// Runs every export in its runtimes and certifies them (`certify`). Errors: a result without
    /// exports, the data's.
    virtual Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job)
        = 0;

    /// Cached results of these decisions. Answers at once; runs no data.
    virtual Recalled recall(const CalibrateRequest& request, const JobContext& job) = 0;

    /// Caches the results in a result folder if they belong to the same decisions, data, device and
    /// threads: `calibrate` and `compare` then return them without running the data. Returns the
    /// reason if not ("they are of other decisions"), else "".
    virtual Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                                      const JobContext& job)
        = 0;

    /// Summary of a parameter, buffer or constant (`previewValue`).
    virtual Result<ValuePreview> storedValue(const GraphPtr& model, NodeId node,
                                             const JobContext& job)
        = 0;
    /// Ranges of the weights without the cures that change the model (`uncuredWeights`).
    virtual Result<std::map<std::string, WeightRanges>>
    uncuredWeights(const GraphPtr& file, const Recipe& recipe, const JobContext& job) = 0;
    /// Texts of the stored values that are single numbers (`scalarTexts`).
    virtual Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) = 0;
    /// Other ways to quantize the value of an observer (`alternativesOf`); runs no data.
    virtual Result<std::vector<Alternative>>
    alternatives(const CalibrationPtr& calibration, ObserverId observer, const JobContext& job) = 0;
};

/// Memory for the values that the window's comparisons and previews continue from.
inline constexpr std::size_t kUsualValueBytes = std::size_t(768) << 20;

/// The window's engine, a `StageChain`. A cancelled calibration leaves its statistics in
/// `checkpointFolder`, which is created on demand; the next one of the same model, plan and data
/// resumes from there. Without a folder it starts over. `valueBytes`: memory for cached values, two
/// thirds for comparisons that resume after a change, the rest for previews.
std::unique_ptr<EngineService> makeEngine(std::string checkpointFolder = {},
                                          std::size_t valueBytes = kUsualValueBytes);

} // namespace qs
