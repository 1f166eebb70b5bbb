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

/// The stages in their order, with their checks, for the command line, the window and the tests:
///
///     model ► edited ► plan ► prepared ► observations ► converted ► comparison ► exports
///
/// Each function takes the values of the stages before it and returns a value. Results are cached
/// under keys of their inputs and returned when the same is requested again: after an undo, for
/// another recipe with the same arithmetic, for earlier data. The cache is bounded; see `Memo`.
/// Thread safe; a call runs on the caller's thread and stops within 200 ms of a cancel.
class StageChain
{
public:
    struct Options
    {
        std::string checkpointFolder; ///< of interrupted calibrations, to resume from; "" = none
        std::size_t resultBytes = std::size_t(1) << 30; ///< of cached results
        std::size_t statisticsBytes = std::size_t(128) << 20; ///< of cached statistics
        /// Of cached values that a later comparison continues from; 0 for a program that compares
        /// once.
        std::size_t valueBytes = 0;
        /// Of cached values of the samples of previews.
        std::size_t previewBytes = std::size_t(256) << 20;
    };
    StageChain();
    explicit StageChain(Options options);
    ~StageChain();

    /// Sets the folder for checkpoints of later calibrations.
    void setCheckpointFolder(std::string folder) { m_options.checkpointFolder = std::move(folder); }

    /// The model after the recipe's edits and the cures that change it. A further edit is applied
    /// to the cached result. Errors: a cancel; edits that do not fit are reported in the result.
    Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe, const JobContext& job);

    /// Writes the values of an extracted part's inputs when the whole model runs on all of the
    /// calibration data (`writePartInputs`).
    Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                const RunSettings& settings, const std::string& path,
                                const JobContext& job);

    /// The model with element types from the calibration data's first batch, if its file does not
    /// state them (`withObservedTypes`), and with the shapes that an earlier calibration corrected;
    /// else the model itself. Errors: the data's.
    Result<GraphPtr> typed(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                           const JobContext& job);

    /// The model with shapes from the data's first batch, if its file does not state them
    /// (`withShapes`); else the model itself. Errors: the data's.
    Result<GraphPtr> shaped(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                            const JobContext& job);

    /// Writes a float model, for example an edited one, as a .pt2. Errors: neither the file nor the
    /// data give the shapes (Unsupported); `savePt2`'s.
    Result<void> saveModel(const GraphPtr& model, const Recipe& recipe, const RunSettings& settings,
                           const std::string& path, const JobContext& job);

    /// Errors: a target that is required and not named, an unknown backend, a lowering row without
    /// a kernel, `makePlan`'s. Cures that do not fit are among its warnings.
    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe, const JobContext& job = {});

    /// The rules that the recipe's cures become for that plan, by cure. Errors: `plan`'s.
    Result<CureExpansionPtr> cures(const GraphPtr& model, const Recipe& recipe,
                                   const JobContext& job = {});

    /// Refuses quantized models, plans that quantize nothing (`checks.h`) and a run beyond the
    /// user's memory limit (`checkMemoryLimit`); memory below the limit is for cached results. Runs
    /// the data only for observers without cached statistics. If the data show types that the file
    /// leaves open, other shapes (`contradictedShapes`; one note reports them) or values that are
    /// not finite (`Calibration::notFinite`), the result's model and plan include them.
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request, const JobContext& job);

    /// The calibration from a result document: its parameters, and as statistics only the ranges.
    /// `documentHash` is part of the key.
    Result<CalibrationPtr> restore(const CalibrateRequest& request, QParamsTable qparams,
                                   Observations observations, const std::string& documentHash,
                                   const JobContext& job);

    /// Refuses observers that never saw a value, unless the recipe waives them.
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job);
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job);

    /// The sites that cause the noise of the outputs, over that comparison's data (`blameSites`).
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
    /// Inspects one value over the data of that comparison (`inspectValue`).
    Result<ValueInspectionPtr> inspect(const CompareRequest& request,
                                       const InspectionTarget& target, const JobContext& job);
    /// The value for one sample (`sampleValues`).
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

    /// Caches the results in a result folder if they belong to the same decisions, data, device and
    /// threads: `calibrate` and `compare` then return them without running the data. Returns the
    /// reason if not ("they are of other decisions"), else "".
    Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                              const JobContext& job);

    /// Data cut by the settings (`batches` 0: all of them); recently used data stay open.
    Result<std::shared_ptr<const Dataset>> data(const Graph& model, const std::string& source,
                                                const CalibrationSettings& cut);

    /// Saves the statistics as the checkpoint of an interrupted calibration, so that the next run
    /// need not observe again.
    Result<void> saveCheckpoint(const Calibration& calibration) const;

    /// Bytes of all cached results.
    std::size_t keptBytes() const
    {
        return m_memo.bytes() + m_statistics.bytes() + m_work.bytes() + m_previewWork.bytes();
    }

private:
    /// The same with the requested custom modules: attention in its quantizable form, each call of
    /// a pack's module as one node (`gatherModules`).
    Result<EditedModelPtr> gathered(EditedModelPtr edited, const Recipe& recipe);
    /// The same after the cures that change the model.
    Result<EditedModelPtr> cured(EditedModelPtr edited, const Recipe& recipe,
                                 const JobContext& job);
    /// The result of `edited` that holds that model or the model that a run refined it from; null
    /// once it is released.
    EditedModelPtr editedAs(const Graph& model);
    void rememberEdited(const EditedModelPtr& edited);
    struct Run;
    /// Amount of data that was read.
    struct Amount
    {
        std::int64_t batches = 0, samples = 0;
    };
    Result<Run> prepareRun(const CalibrateRequest& request, const JobContext& job);
    Result<void> keepToMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples);
    void keepStatistics(const Run& run, const Observations& seen);
    /// The calibration from cached statistics and the `fresh` ones; null if one is missing.
    CalibrationPtr assemble(const Run& run, const Observations* fresh = nullptr);
    /// The same, recomputed and not cached.
    std::shared_ptr<Calibration> gather(const Run& run, const Observations* fresh);
    /// Runs the data for the observers without cached statistics, or for all of them.
    /// Fills `found` even if the run fails.
    Result<ObservationsPtr> observe(const Run& run, const JobContext& job, bool all,
                                    RunFindings& found);
    /// `calibrate` with the recipe unchanged.
    Result<CalibrationPtr> calibrateOnce(const CalibrateRequest& request, const JobContext& job,
                                         RunFindings& found);
    /// Finds and stores the shapes that the run's data contradict. Returns whether there are any.
    Result<bool> correctShapes(const CalibrateRequest& request, const Run& run,
                               const RecordedShapes& shapes, const JobContext& job);
    /// Observers of the run without cached statistics.
    std::unordered_set<ObserverId> unseen(const Run& run);
    /// The samples for previews of the run.
    struct PreviewData
    {
        std::shared_ptr<const Dataset> data; ///< of that one batch
        std::shared_ptr<const Batch> batch;
        Key key; ///< of model, samples, device and threads
        Key samplesKey; ///< `Preview::samplesKey`
    };
    Result<PreviewData> previewData(const Run& run, const PreviewRequest& request,
                                    const JobContext& job);
    /// A calibration whose missing statistics, and the ranges of the named nodes, are observed on
    /// the samples of a preview; `estimated` gets the names of all these nodes. Not cached.
    Result<CalibrationPtr> estimate(const Run& run, const PreviewData& samples,
                                    const std::vector<std::string>& wanted,
                                    std::vector<std::string>& estimated, const JobContext& job);
    std::optional<Checkpoint> checkpointOf(const PreparedModel& prepared, const Key& dataKey,
                                           const std::string& device) const;
    /// Key of the compared data, how they are cut, device and threads.
    Result<Key> comparedKey(const CompareRequest& request, const JobContext& job);
    Result<Key> comparisonKey(const CompareRequest& request, const JobContext& job);
    void adoptDiagnosis(const StoredRun& stored, const PreparedModel& prepared,
                        const Key& comparison);
    /// The conversion; converted again if it is older than the requested calibration.
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
    std::unordered_set<Key> m_triedShapes; ///< of models and data that were tried
    std::unordered_set<std::string> m_notedShapes; ///< hashes of files that a note was about
    std::mutex m_editedMutex;
    /// By the model's file and edits; the plan of a model keeps its edited model alive.
    std::unordered_map<Key, std::weak_ptr<const EditedModel>> m_edited;
    std::mutex m_dataMutex;
    std::list<OpenedData> m_opened; ///< most recently used first
};

} // namespace qs
