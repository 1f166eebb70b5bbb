// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_checkpoint.h"

#include "engine/base/json/json_reader.h"
#include "engine/base/torch_guard.h"
#include "engine/io/npy_tensor.h"
#include "engine/io/npz.h"
#include "engine/train/interrupted_training.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace qs {

namespace {

constexpr int kCheckpointVersion = 1;

Json factsOf(const TrainingCheckpoint& checkpoint, const std::string& key)
{
    Json points = Json::array();
    for (const TrainingPoint& point : checkpoint.made.points)
        points.push_back({point.step, point.loss,
                          point.guardDb ? Json(*point.guardDb) : Json(nullptr), point.seconds});
    return {{"version", kCheckpointVersion},
            {"key", key},
            {"settings", trainingSettingsJson(checkpoint.settings)},
            {"from_scratch", checkpoint.fromScratch},
            {"points", std::move(points)},
            {"best", checkpoint.made.best},
            {"steps", checkpoint.made.steps},
            {"trained_samples", checkpoint.made.trainedSamples},
            {"guard_samples", checkpoint.made.guardSamples},
            {"left", checkpoint.left},
            {"seen", checkpoint.seen},
            {"random", checkpoint.random},
            {"loss_sum", checkpoint.lossSum},
            {"loss_steps", checkpoint.lossSteps},
            {"seconds", checkpoint.seconds},
            {"state", checkpoint.state.size()},
            {"best_state", checkpoint.best.size()},
            {"optimizer", checkpoint.optimizer.size()}};
}

/// Throws if a fact is missing or of another type.
TrainingCheckpoint checkpointOf(const Json& facts)
{
    TrainingCheckpoint made;
    for (const Json& point : facts.at("points")) {
        TrainingPoint& added = made.made.points.emplace_back();
        added.step = point.at(0).get<int>();
        added.loss = point.at(1).get<double>();
        if (!point.at(2).is_null())
            added.guardDb = point.at(2).get<double>();
        added.seconds = point.at(3).get<double>();
    }
    facts.at("best").get_to(made.made.best);
    facts.at("steps").get_to(made.made.steps);
    facts.at("trained_samples").get_to(made.made.trainedSamples);
    facts.at("guard_samples").get_to(made.made.guardSamples);
    facts.at("left").get_to(made.left);
    facts.at("seen").get_to(made.seen);
    facts.at("random").get_to(made.random);
    facts.at("loss_sum").get_to(made.lossSum);
    facts.at("loss_steps").get_to(made.lossSteps);
    facts.at("seconds").get_to(made.seconds);
    made.state.resize(facts.at("state").get<std::size_t>());
    made.best.resize(facts.at("best_state").get<std::size_t>());
    made.optimizer.resize(facts.at("optimizer").get<std::size_t>());
    if (made.made.best > made.made.points.size())
        throw std::out_of_range("best");
    return made;
}

/// Visits each list of tensors with its name in the file.
template<class Checkpoint, class Visit>
void eachList(Checkpoint& checkpoint, const Visit& visit)
{
    visit("state", checkpoint.state);
    visit("best", checkpoint.best);
    visit("optimizer", checkpoint.optimizer);
}

std::string nameOf(const char* list, std::size_t index)
{
    return std::string(list) + "_" + std::to_string(index);
}

Error noCheckpoint(const TrainingStore& store, const std::string& why)
{
    return makeError(ErrorCode::BadInput, why)
        .inFile(store.path)
        .withHint("train without --resume");
}

} // namespace

Result<void> writeCheckpoint(const TrainingCheckpoint& checkpoint, const TrainingStore& store)
{
    const std::string facts = factsOf(checkpoint, store.key).dump();
    std::vector<NpyArray> arrays {
        {kCheckpointFacts, DType::UInt8, {std::int64_t(facts.size())}, {}}};
    const auto* bytes = reinterpret_cast<const std::byte*>(facts.data());
    arrays.front().bytes.assign(bytes, bytes + facts.size());
    eachList(checkpoint, [&](const char* list, const std::vector<at::Tensor>& tensors) {
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (tensors[i].defined())
                arrays.push_back(npyFromTensor(nameOf(list, i), tensors[i].cpu()));
    });
    return writeNpz(arrays, store.path);
}

Result<TrainingCheckpoint> readCheckpoint(const TrainingStore& store)
{
    std::error_code code;
    if (!std::filesystem::exists(store.path, code))
        return fail(makeError(ErrorCode::NotFound, "no interrupted training to resume")
                        .inFile(store.path)
                        .withHint("train without --resume, or name its folder"));
    auto read = readNpz(store.path);
    if (!read)
        return fail(std::move(read).error().withHint("train without --resume"));
    const NpzContent& content = *read;
    const auto find = [&](const std::string& name) {
        return std::find_if(content.arrays.begin(), content.arrays.end(),
                            [&](const NpyArray& array) { return array.name == name; });
    };
    const auto facts = find(kCheckpointFacts);
    if (facts == content.arrays.end())
        return fail(noCheckpoint(store, "it is not a checkpoint of a training"));
    const std::string text(reinterpret_cast<const char*>(facts->bytes.data()), facts->bytes.size());
    auto made = guardTorchValue<TrainingCheckpoint>([&]() -> Result<TrainingCheckpoint> {
        const Json json = Json::parse(text);
        if (json.at("version") != kCheckpointVersion || json.at("key") != store.key)
            return fail(noCheckpoint(
                store, "it is of another training: model, recipe, data or options differ"));
        return checkpointOf(json);
    });
    if (!made)
        return fail(made.error().code == ErrorCode::BadInput
                        ? made.error()
                        : noCheckpoint(store, "the checkpoint is damaged"));
    eachList(*made, [&](const char* list, std::vector<at::Tensor>& tensors) {
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (const auto array = find(nameOf(list, i)); array != content.arrays.end())
                tensors[i] = tensorFromNpy(*array);
    });
    return made;
}

} // namespace qs
