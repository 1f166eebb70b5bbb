// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/train/train_model.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/base/text.h"
#include "engine/calibrate/device_choice.h"
#include "engine/compare/output_run.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/train/training_data.h"
#include "engine/result/error_json.h"
#include "engine/train/interrupted_training.h"
#include "engine/train/matched_values.h"
#include "engine/train/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

constexpr const char* kTrainingFormat = "quantscope.training";
constexpr int kTrainingVersion = 1;

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
    const std::string_view name = planned->spec.fakeQuantize == FakeQuantize::Learnable
        ? fakeQuantizeName(FakeQuantize::Learnable)
        : observerKindName(planned->spec.kind);
    return fail(
        makeError(ErrorCode::Usage,
                  "its observer, " + std::string(name) + ", gives a range only by a calibration")
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

Json settingsJson(const TrainRequest& request, std::int64_t batchSize)
{
    Json json = trainingSettingsJson(request.training);
    json["batch_size"] = batchSize;
    json["from"] = !request.from.empty() ? request.from : request.start ? "calibration" : "scratch";
    return json;
}

/// Of everything that the training depends on.
Key trainingKey(const TrainRequest& request, const Graph& teacher, std::int64_t batchSize,
                const std::string& device)
{
    return KeyBuilder("training")
        .add(modelKey(*request.model))
        .add(modelKey(teacher))
        .add(planKey(*request.model, request.recipe))
        .add(request.dataHash)
        .add(settingsJson(request, batchSize).dump())
        .add(request.start ? request.start->key : Key())
        .add(device)
        .add(std::int64_t(at::get_num_threads()))
        .key();
}

Result<TrainingGraphPtr> preparedFor(const TrainRequest& request, const JobContext& job)
{
    const auto factors = request.start ? NormFactors::OfFolding : NormFactors::OfTraining;
    return prepareForTraining(request.model, request.plan, factors, job);
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
    QS_TRY(const TrainingGraphPtr graph, preparedFor(request, job));
    QS_TRY(const TrainingData data,
           trainingData(chain, request, *graph, device.device.starts_with("cpu")));
    job.report("train", data.memory.text(), 0);
    QS_TRY(const auto matched, matchedValues(*graph, settings.matched));
    TrainingGraph trained = *graph;
    trained.graph = withOutputs(graph->graph, matched);
    TrainingTask task {trained, withOutputs(before->graph, matched), *data.data};
    if (request.start)
        task.start = {request.start->observations.get(), &request.start->qparams};
    task.measured = outputArguments(*before->graph).size();
    task.valueBytes = std::size_t(data.memory.limit);
    const std::int64_t batchSize = data.memory.samples;
    const TrainingStore store {request.checkpoint,
                               trainingKey(request, *before->graph, batchSize, device.device),
                               request.resumes};
    QS_TRY(Training made, train(task, settings, store, see, job));
    made.batchSize = batchSize;
    made.predictedBytes = data.memory.bytes();
    if (!data.note.empty())
        made.notes.push_back(data.note);
    std::error_code code;
    if (!store.path.empty() && !job.cancelled())
        std::filesystem::remove(store.path, code);
    for (std::string& note : trainingNotes(*graph, settings))
        made.notes.push_back(std::move(note));
    return made;
}

Result<TrainingForecast> forecastTraining(StageChain& chain, const TrainRequest& request,
                                          const JobContext& job)
{
    QS_TRY(const DeviceChoice device, chooseDevice(request.settings.device, *request.model));
    QS_TRY(const TrainingGraphPtr graph, preparedFor(request, job));
    QS_TRY(const TrainingData data,
           trainingData(chain, request, *graph, device.device.starts_with("cpu")));
    return TrainingForecast {data.memory.samples, data.memory.bytes(), data.memory.text(),
                             data.data->hasLabels()};
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
            {"settings", settingsJson(request, training.batchSize)},
            {"points", std::move(points)},
            {"best", training.best},
            {"steps", training.steps},
            {"trained_samples", training.trainedSamples},
            {"guard_samples", training.guardSamples},
            {"stopped", training.stopped},
            {"predicted_bytes", training.predictedBytes},
            {"peak_rss_bytes", peakResidentBytes()},
            {"notes", training.notes}};
}

} // namespace qs
