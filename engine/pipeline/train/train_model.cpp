// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/train/train_model.h"

#include "engine/base/text.h"
#include "engine/calibrate/device_choice.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/result/error_json.h"
#include "engine/train/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

constexpr const char* kTrainingFormat = "quantscope.training";
constexpr int kTrainingVersion = 1;

/// All of the data; in smaller batches if a guard needs them and the model allows it.
Result<std::shared_ptr<const Dataset>> trainingData(StageChain& chain, const TrainRequest& request)
{
    const std::string& source = request.settings.calibrationData;
    CalibrationSettings cut = request.recipe.calibration;
    cut.batches = 0;
    QS_TRY(auto data, chain.data(*request.model, source, cut));
    const std::int64_t count = data->batchCount();
    if (!request.training.needsGuard || count >= kGuardEvery || count == 0)
        return data;
    QS_TRY(const Batch last, data->batch(count - 1));
    const std::int64_t samples = (count - 1) * cut.batchSize + last.samples;
    cut.batchSize = int(std::max<std::int64_t>(1, samples / kGuardEvery));
    const auto smaller = chain.data(*request.model, source, cut);
    return smaller ? *smaller : data; // a model may require larger batches
}

/// Fails if an observer needs a calibration before the training.
Result<void> checkStartsAlone(const TrainRequest& request)
{
    const PlannedObserver* planned
        = needingCalibration(*request.plan, request.training.learnsScales);
    if (!planned)
        return {};
    const Node* node = planned->edges.empty()
        ? nullptr
        : request.model->tryGet(planned->edges.front().value.node);
    return fail(makeError(ErrorCode::Usage,
                          "its observer, " + std::string(observerKindName(planned->spec.kind))
                              + ", gives a range only by a calibration")
                    .atNode(node ? node->name : std::string())
                    .withHint("leave --from-scratch out"));
}

/// Notes on what the training cannot do as PyTorch does.
std::vector<std::string> trainingNotes(const TrainingGraph& graph, const TrainingSettings& settings)
{
    std::vector<std::string> notes;
    std::vector<std::string> still;
    for (const NodeId id : graph.batchNorms) {
        const Node& node = graph.graph->get(id);
        const Argument* momentum = node.tryArg("momentum");
        if (momentum && momentum->asDouble() && *momentum->asDouble() == 0)
            still.push_back(node.scope.path.empty() ? node.name : node.scope.path);
    }
    if (!still.empty() && settings.freezeBatchNorms != 0)
        notes.push_back(quotedNames(still)
                        + ": exported with momentum 0, so the running statistics do not change");
    return notes;
}

Json pointJson(const TrainingPoint& point)
{
    return {{"step", point.step},
            {"loss", point.step == 0 ? Json(nullptr) : numberJson(point.loss)},
            {"guard_db", numberJson(point.guardDb)},
            {"seconds", numberJson(point.seconds)}};
}

Json settingsJson(const TrainRequest& request)
{
    const TrainingSettings& settings = request.training;
    const auto stepOr
        = [](const std::optional<int>& step) { return step ? Json(*step) : Json(nullptr); };
    return {{"steps", settings.steps},
            {"seconds", numberJson(settings.seconds)},
            {"lr", numberJson(settings.rate)},
            {"optimizer", settings.optimizer == OptimizerKind::Adam ? "adam" : "sgd"},
            {"momentum", settings.momentum},
            {"schedule", settings.decays ? "cosine" : "constant"},
            {"loss", settings.loss == TrainingLoss::Distill ? "distill" : "labels"},
            {"learn_scales", settings.learnsScales},
            {"freeze_bn", stepOr(settings.freezeBatchNorms)},
            {"freeze_observers", stepOr(settings.freezeObservers)},
            {"freeze", settings.frozen},
            {"seed", settings.seed},
            {"guard", settings.needsGuard},
            {"from", request.start ? "calibration" : "scratch"}};
}

/// Of everything that the training depends on.
Key trainingKey(const TrainRequest& request, const Graph& teacher, const std::string& device)
{
    return KeyBuilder("training")
        .add(modelKey(*request.model))
        .add(modelKey(teacher))
        .add(planKey(*request.model, request.recipe))
        .add(request.dataHash)
        .add(settingsJson(request).dump())
        .add(device)
        .add(std::int64_t(at::get_num_threads()))
        .key();
}

} // namespace

Result<Training> trainModel(StageChain& chain, const TrainRequest& request, const SeeTraining& see,
                            const JobContext& job)
{
    TrainingSettings settings = request.training;
    if (!request.start)
        QS_CHECK(checkStartsAlone(request));
    QS_TRY(const DeviceChoice device, chooseDevice(request.settings.device, *request.model));
    settings.device = device.device;
    QS_TRY(const EditedModelPtr before, chain.edited(request.file, untrained(request.recipe), job));
    QS_TRY(const auto data, trainingData(chain, request));
    QS_TRY(const TrainingGraphPtr graph, prepareForTraining(request.model, request.plan, job));
    const Observations* start = request.start ? request.start->observations.get() : nullptr;
    const TrainingStore store {
        request.checkpoint, trainingKey(request, *before->graph, device.device), request.resumes};
    QS_TRY(Training made, train({*graph, before->graph, *data, start}, settings, store, see, job));
    std::error_code code;
    if (!store.path.empty() && !job.cancelled())
        std::filesystem::remove(store.path, code);
    for (std::string& note : trainingNotes(*graph, settings))
        made.notes.push_back(std::move(note));
    return made;
}

Json trainingJson(const TrainRequest& request, const Training& training)
{
    Json points = Json::array();
    for (const TrainingPoint& point : training.points)
        points.push_back(pointJson(point));
    return {{"format", kTrainingFormat},
            {"version", kTrainingVersion},
            {"model", request.model->info().path},
            {"data", {{"path", request.settings.calibrationData}, {"hash", request.dataHash}}},
            {"settings", settingsJson(request)},
            {"points", std::move(points)},
            {"best", training.best},
            {"steps", training.steps},
            {"trained_samples", training.trainedSamples},
            {"guard_samples", training.guardSamples},
            {"stopped", training.stopped},
            {"notes", training.notes}};
}

} // namespace qs
