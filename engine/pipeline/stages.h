// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/blame/diagnosis.h"
#include "engine/calibrate/observations.h"
#include "engine/compare/comparison.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"
#include "engine/edit/edited_model.h"
#include "engine/export/onnx/onnx_target.h"
#include "engine/export/onnx_opset.h"
#include "engine/pipeline/run_settings.h"
#include "engine/result/result_figures.h"
#include "engine/result/stored_run.h"
#include "engine/train/training.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

class CalibrationWatch;
class Dataset;

/// Result of a calibration: the observed graph, the observers' statistics and the quantization
/// parameters that follow. A value.
struct Calibration
{
    PreparedPtr prepared;
    ObservationsPtr observations;
    QParamsTable qparams;
    std::string device; ///< "cpu", "cuda:0"
    std::string note; ///< why this device, or empty
    double prepareSeconds = 0, seconds = 0; ///< time of preparing and of calibrating
    /// Nodes whose values were not finite on the data and that the recipe does not name, with the
    /// observed value. They stay float: later stages need the recipe `withNotFinite` returns.
    std::map<std::string, std::string> notFinite;
    Key resumeKey; ///< of the data, for resuming an interrupted calibration
    Key key; ///< of model, plan, data, device; empty if the result is not cached
};
using CalibrationPtr = std::shared_ptr<const Calibration>;

struct CalibrateRequest
{
    GraphPtr model;
    PlanPtr plan;
    Recipe recipe;
    RunSettings settings;
    /// Receives snapshots while data run; null: none. No effect on the result.
    std::shared_ptr<CalibrationWatch> watch {};
};

struct ConvertRequest
{
    CalibrationPtr calibration;
    Recipe recipe;
    RunSettings settings;
    /// Kernels that were refused when the result was written. Empty: the kernel check decides.
    std::optional<std::vector<RefusedKernel>> refused {};
};

struct CompareRequest
{
    CalibrationPtr calibration; ///< from which `converted` was made
    ConvertedPtr converted;
    Recipe recipe;
    RunSettings settings;
    /// The model before its edits, for `settings.againstOriginal`.
    EditedModelPtr edited {};
};

/// Samples of the data that a comparison of the model runs on.
struct SampleInputsRequest
{
    GraphPtr model;
    Recipe recipe;
    RunSettings settings;
    std::vector<std::int64_t> samples; ///< in the order of the data, from 0
};

/// Decisions whose effect on a few samples is requested.
struct PreviewRequest
{
    GraphPtr model;
    Recipe recipe;
    RunSettings settings;
    /// Names of float nodes whose ranges are taken from these samples although statistics exist:
    /// those of another preview (`Preview::estimated`), so that both compare.
    std::vector<std::string> estimated {};
};

struct ExportRequest
{
    CalibrationPtr calibration;
    ConvertedPtr converted;
    ComparisonPtr comparison; ///< may be null: the result document then has no errors
    DiagnosisPtr diagnosis {}; ///< of this conversion; null: the document holds no causes
    Recipe recipe;
    RunSettings settings;
    std::vector<std::string> forms; ///< of `exportForms`
    bool formsChosen = true; ///< false: forms that cannot hold the model are skipped with a note
    std::string folder;
    std::map<std::string, double> timingSeconds; ///< of earlier stages, for the document
    std::optional<Evaluation> evaluation; ///< the user's metric, for the document
    std::int64_t onnxOpset = kOnnxOpset; ///< of the form "onnx"
    OnnxTarget onnxTarget = OnnxTarget::Generic; ///< of the same
    bool saturates = false; ///< `ExportOptions::saturates`
    int ranks = 1; ///< processes that shared the data
    std::shared_ptr<const ResultDocument::Json> search {}; ///< `searchSummary`; null without one
    bool alternatives = false; ///< the document lists the errors of other ways to quantize
};

struct ExportReport
{
    std::string folder;
    std::vector<std::string> files; ///< paths written, in order
    std::string document; ///< the text of result.json
    std::vector<std::string> notes; ///< sentences on differences of the files' results
};

/// A training of a model on the calibration data of `settings`, all of them.
struct TrainRequest
{
    GraphPtr file; ///< the model as opened: with the recipe's edits it gives the outputs to learn
    GraphPtr model; ///< after its edits and, if the recipe has one, an earlier training
    PlanPtr plan; ///< of the recipe
    Recipe recipe;
    RunSettings settings;
    TrainingSettings training; ///< the device is that of `settings`
    /// Whose ranges the training starts from. Null: from none, as after torch.ao's prepare.
    CalibrationPtr start;
    std::string from {}; ///< the result folder that `start` is of; "" = none
    std::string dataHash {}; ///< of the data's content; "" = not known, and no checkpoint
    /// File for checkpoints, about every 30 s and at a cancel; removed at the end. Empty: none.
    std::string checkpoint {};
    bool resumes = false; ///< continue from the checkpoint
    bool savesOnCancel = true; ///< a cancelled training saves its best state; else it fails
    /// True: as without `savesOnCancel`. Another thread may set it before it cancels.
    std::shared_ptr<const std::atomic<bool>> isDiscarded {};
    /// What it trains on, in these batches, in place of the data of `settings`; null: those.
    std::shared_ptr<const Dataset> batches {};
};

/// What is known of a training before it runs. A value.
struct TrainingForecast
{
    std::int64_t batchSize = 0; ///< samples
    std::int64_t bytes = 0; ///< predicted peak of main memory
    std::string memory; ///< "about 560 MB of memory for batches of 8"
    bool hasLabels = false; ///< the data have labels
};

/// A training whose model was saved, and the cure that takes it (`withTraining`).
struct SavedTraining
{
    Training training;
    Cure cure;
};

/// The exports of a result folder, to be run in their runtimes.
struct VerifyStageRequest
{
    ConvertedPtr converted; ///< from which the exports were written
    StoredRun stored; ///< of the folder
    std::string data; ///< to run them on: path or "sample"
    std::string python; ///< interpreter that has the runtimes; "" = LibTorch's
    std::vector<std::string> runtimes; ///< names; empty = all
    bool speed = false; ///< time float and int8 in each runtime
};

/// Cached results of decisions, without running anything; null where a stage must run. A comparison
/// may be there without the converted model.
struct Recalled
{
    CalibrationPtr calibration;
    ConvertedPtr converted;
    ComparisonPtr comparison;
    DiagnosisPtr diagnosis; ///< for default `BlameOptions`
};

} // namespace qs
