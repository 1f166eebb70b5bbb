// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/early_hash.h"
#include "engine/pipeline/stages/preview_stage.h"

namespace qs {

/// The stages in their order, with their checks, for the command line, the window and the tests:
///
///     model ► edited ► plan ► prepared ► observations ► converted ► comparison ► exports
///
/// Each function takes the values of earlier stages and returns a value. Results are cached under
/// keys of their inputs and reused for equal inputs, for example after an undo, for a recipe with
/// the same arithmetic, or for earlier data. `EngineService` documents the functions that a verb or
/// the window calls. Each base class adds stages that need those of the classes it derives from.
class StageChain final : public PreviewStage
{
public:
    using PreviewStage::PreviewStage;
    StageChain();

    void expectOpening(const std::string& path) override;
    Result<GraphPtr> open(const std::string& path, const JobContext& job) override;
    Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan, const Recipe& recipe,
                                 const JobContext& job) override;
    Result<TuneState> tune(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
                           const JobContext& job) override;
    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) override;
    Result<SavedTraining> train(const TrainRequest& request, const std::string& path,
                                const SeeTraining& see, const JobContext& job) override;
    Result<TrainingForecast> forecast(const TrainRequest& request, const JobContext& job) override;
    Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job) override;
    Recalled recall(const CalibrateRequest& request, const JobContext& job) override;
    Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                              const JobContext& job) override;
    Result<ValuePreview> storedValue(const GraphPtr& model, NodeId node,
                                     const JobContext& job) override;
    Result<std::map<std::string, WeightRanges>>
    uncuredWeights(const GraphPtr& file, const Recipe& recipe, const JobContext& job) override;
    Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) override;
    Result<std::vector<Alternative>> alternatives(const CalibrationPtr& calibration,
                                                  ObserverId observer,
                                                  const JobContext& job) override;

private:
    EarlyHash m_earlyHash;
};

} // namespace qs
