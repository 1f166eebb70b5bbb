// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/memo.h"
#include "engine/blame/blame.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/corrected_shapes.h"
#include "engine/compare/preview.h"
#include "engine/compare/sweep/comparison_cache.h"
#include "engine/edit/edited_model.h"
#include "engine/pipeline/kept_statistics.h"
#include "engine/pipeline/keys/data_identity.h"
#include "engine/pipeline/stages.h"
#include "engine/result/stored_run.h"
#include "engine/values/value_inspection.h"
#include "engine/verify/certificate.h"

#include <atomic>
#include <list>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace qs {

class Dataset;
class RecordedShapes;
struct RunFindings;
struct CureExpansion;
using CureExpansionPtr = std::shared_ptr<const CureExpansion>;
struct Batch;

/// The stages in their one order, with their checks, for the command line, the window and the tests
/// alike:
///
///     model ► edited ► plan ► prepared ► observations ► converted ► comparison ► exports
///
/// Each function takes the values of the stages before it and returns a value. What was made once
/// is kept under a key of what it was made from, and returned when the same is asked for again:
/// after an undo, another recipe with the same arithmetic, the data of before. Kept results are
/// bounded; see `Memo`. Thread safe; a call runs on the caller's thread and stops within 200 ms of
/// a cancel.
class StageChain
{
public:
    struct Options
    {
        std::string
            checkpointFolder; ///< where an interrupted calibration goes on from; "" = nowhere
        std::size_t resultBytes = std::size_t(1) << 30; ///< of kept results
        std::size_t statisticsBytes = std::size_t(128) << 20; ///< of kept statistics
        /// Of values from which a comparison goes on; a program that compares once needs none.
        std::size_t valueBytes = 0;
        /// Of values of the samples that previews run on.
        std::size_t previewBytes = std::size_t(256) << 20;
    };
    StageChain();
    explicit StageChain(Options options);
    ~StageChain();

    /// Where to leave the checkpoint of the calibrations from now on.
    void setCheckpointFolder(std::string folder) { m_options.checkpointFolder = std::move(folder); }

    /// The model with the recipe's edits done to it, and the cures that change it. A further edit
    /// costs that edit alone. Errors: a cancel; edits that do not fit are reported in the result.
    Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe, const JobContext& job);

    /// Writes what the inputs of an extracted part get when the whole runs on the calibration data,
    /// all of them (`writePartInputs`).
    Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                const RunSettings& settings, const std::string& path,
                                const JobContext& job);

    /// The model with the element types that the calibration data's first batch shows, where its
    /// file does not tell them (`withObservedTypes`), and with the shapes that an earlier
    /// calibration corrected; the model itself where there are none. Errors: the data's.
    Result<GraphPtr> typed(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                           const JobContext& job);

    /// The model with the shapes that the data's first batch shows, where its file does not tell
    /// them (`withShapes`); the model itself where it does. Errors: the data's.
    Result<GraphPtr> shaped(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                            const JobContext& job);

    /// Writes a float model, for example an edited one, as a .pt2. Errors: neither the file nor the
    /// data give the shapes (Unsupported); `savePt2`'s.
    Result<void> saveModel(const GraphPtr& model, const Recipe& recipe, const RunSettings& settings,
                           const std::string& path, const JobContext& job);

    /// Errors: a target that is required and not named, an unknown backend, a lowering row without
    /// a kernel, `makePlan`'s. Cures that do not fit are among its warnings.
    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe, const JobContext& job = {});

    /// What the recipe's cures are to that plan, and which rule is of which cure. Errors: `plan`'s.
    Result<CureExpansionPtr> cures(const GraphPtr& model, const Recipe& recipe,
                                   const JobContext& job = {});

    /// Refuses quantized models and plans that quantize nothing (`checks.h`), and a run that the
    /// user's limit of memory has no room for (`checkMemoryLimit`); what that leaves is for kept
    /// results. Runs the data only for observers whose statistics are not kept. Where the data tell
    /// more of the model than its file, or other shapes (`contradictedShapes`, which one note
    /// reports), or hold values that are not finite (`Calibration::notFinite`), the result's model
    /// and plan are those that follow.
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request, const JobContext& job);

    /// The calibration that a result document holds: its parameters, and of the statistics the
    /// ranges. `documentHash` is part of the key.
    Result<CalibrationPtr> restore(const CalibrateRequest& request, QParamsTable qparams,
                                   Observations observations, const std::string& documentHash,
                                   const JobContext& job);

    /// Refuses observers that never saw a value, unless the recipe waives them.
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job);
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job);

    /// Who causes the noise of the outputs, over the data of that comparison (`blameSites`).
    Result<BlamePtr> blame(const CompareRequest& request, const BlameOptions& options,
                           const JobContext& job);

    /// The same with its causes on this processor (`causesOf`).
    Result<DiagnosisPtr> why(const CompareRequest& request, const BlameOptions& options,
                             const JobContext& job);

    /// The errors that decisions cause on the first compared samples, by the reference form alone
    /// (`previewErrors`). Uses the cached statistics; an observer without statistics takes its
    /// range from these samples, and the result lists it. Other stages never reuse a preview.
    /// Errors: no calibration on these data; `calibrate`'s.
    Result<PreviewPtr> preview(const PreviewRequest& request, const JobContext& job);
    /// Looks at one value over the data of that comparison (`inspectValue`).
    Result<ValueInspectionPtr> inspect(const CompareRequest& request,
                                       const InspectionTarget& target, const JobContext& job);
    /// What it is for one sample (`sampleValues`).
    Result<SampleValuesPtr> sampleValues(const CompareRequest& request, const SampleWanted& wanted,
                                         const JobContext& job);

    /// Writes the forms and the records beside them into the folder, all or nothing
    /// (`ResultFolder`).
    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job);

    /// Runs every export in its runtimes and certifies them (`certify`). Errors: a result without
    /// exports, the data's.
    Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job);

    /// Answers at once; runs no data.
    Recalled recall(const CalibrateRequest& request, const JobContext& job);

    /// Takes over what an earlier run left in a result folder, where it is of these very decisions,
    /// data, device and threads: `calibrate` and `compare` then give it without running the data.
    /// Returns why it is not taken over ("they are of other decisions"), or "" where it is.
    Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                              const JobContext& job);

    /// Data cut as the settings say (`batches` 0: all of them), opened once and kept open for a
    /// while.
    Result<std::shared_ptr<const Dataset>> data(const Graph& model, const std::string& source,
                                                const CalibrationSettings& cut);

    /// Leaves the statistics where an interrupted calibration leaves its own, so that the next run
    /// need not look again.
    Result<void> saveCheckpoint(const Calibration& calibration) const;

    /// Memory of all that is kept.
    std::size_t keptBytes() const
    {
        return m_memo.bytes() + m_statistics.bytes() + m_work.bytes() + m_previewWork.bytes();
    }

private:
    /// The same with the custom modules that are asked for: attention as its quantizable form, the
    /// calls of packs' modules made one node each (`gatherModules`).
    Result<EditedModelPtr> gathered(EditedModelPtr edited, const Recipe& recipe);
    /// The same with the cures done that change the model.
    Result<EditedModelPtr> cured(EditedModelPtr edited, const Recipe& recipe,
                                 const JobContext& job);
    /// The result of `edited` that holds that model or the model that a run refined it from; null
    /// once it is released.
    EditedModelPtr editedAs(const Graph& model);
    void rememberEdited(const EditedModelPtr& edited);
    struct Run;
    /// How much was looked at.
    struct Amount
    {
        std::int64_t batches = 0, samples = 0;
    };
    Result<Run> prepareRun(const CalibrateRequest& request, const JobContext& job);
    Result<void> keepToMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples);
    void keepStatistics(const Run& run, const Observations& seen);
    /// The calibration from kept statistics and the `fresh` ones; null where one is missing.
    CalibrationPtr assemble(const Run& run, const Observations* fresh = nullptr);
    /// The same, anew and kept nowhere.
    std::shared_ptr<Calibration> gather(const Run& run, const Observations* fresh);
    /// Runs the data for the observers without kept statistics, or for all of them.
    /// `found` is filled even if the run fails.
    Result<ObservationsPtr> observe(const Run& run, const JobContext& job, bool all,
                                    RunFindings& found);
    /// `calibrate` with the recipe as it stands.
    Result<CalibrationPtr> calibrateOnce(const CalibrateRequest& request, const JobContext& job,
                                         RunFindings& found);
    /// Finds and keeps the shapes that the run's data contradict. Whether there are any.
    Result<bool> correctShapes(const CalibrateRequest& request, const Run& run,
                               const RecordedShapes& shapes, const JobContext& job);
    /// Observers of the run whose statistics are not kept.
    std::unordered_set<ObserverId> unseen(const Run& run);
    /// The samples that previews of the run use.
    struct PreviewData
    {
        std::shared_ptr<const Dataset> data; ///< of that one batch
        std::shared_ptr<const Batch> batch;
        Key key; ///< of model, samples, device and threads
        Key samplesKey; ///< `Preview::samplesKey`
    };
    Result<PreviewData> previewData(const Run& run, const PreviewRequest& request,
                                    const JobContext& job);
    /// A calibration of which what is missing, and the ranges of the nodes of these names, were
    /// observed on the samples of a preview; `estimated` gets the names of all. Kept nowhere.
    Result<CalibrationPtr> estimate(const Run& run, const PreviewData& samples,
                                    const std::vector<std::string>& wanted,
                                    std::vector<std::string>& estimated, const JobContext& job);
    std::optional<Checkpoint> checkpointOf(const PreparedModel& prepared, const Key& dataKey,
                                           const std::string& device) const;
    /// Of the data that are compared, how they are cut, device and threads.
    Result<Key> comparedKey(const CompareRequest& request, const JobContext& job);
    Result<Key> comparisonKey(const CompareRequest& request, const JobContext& job);
    void adoptDiagnosis(const StoredRun& stored, const PreparedModel& prepared,
                        const Key& comparison);
    /// The conversion, made anew where it was kept longer than the calibration that is asked about.
    Result<ConvertedPtr> convertedOf(const CompareRequest& request, const JobContext& job);

    Options m_options;
    ContentHashes m_hashes;
    Memo m_memo;
    KeptStatistics m_statistics;
    ComparisonCache m_work, m_previewWork;
    std::atomic<std::size_t> m_reportedBytes {0}; ///< of cached results, in the last log note
    struct OpenedData
    {
        Key key;
        std::shared_ptr<const Dataset> data;
    };
    std::mutex m_shapesMutex;
    std::unordered_map<Key, std::vector<CorrectedShape>> m_corrected; ///< by `modelKey`
    std::unordered_set<Key> m_triedShapes; ///< of models and data that were looked at
    std::unordered_set<std::string> m_toldShapes; ///< hashes of files that a note was on
    std::mutex m_editedMutex;
    /// By the model's file and edits; whoever plans a model holds what made it.
    std::unordered_map<Key, std::weak_ptr<const EditedModel>> m_edited;
    std::mutex m_dataMutex;
    std::list<OpenedData> m_opened; ///< most recently used first
};

} // namespace qs
