// SPDX-License-Identifier: Apache-2.0
#include "engine/train/interrupted_training.h"

#include "engine/base/torch_guard.h"
#include "engine/io/npz.h"

#include <algorithm>
#include <stdexcept>

namespace qs {

namespace {

/// Reads a member that is null if it has no value.
template<class T>
void readOptional(const Json& json, const char* name, std::optional<T>& value)
{
    const Json& member = json.at(name);
    value = member.is_null() ? std::nullopt : std::optional(member.get<T>());
}

/// Index of a name. Throws for another one.
std::size_t indexOf(const OptionNames& names, const Json& name)
{
    const std::size_t index = indexIn(names, name.get<std::string>());
    if (index == names.size())
        throw std::out_of_range("name");
    return index;
}

/// Throws if a member is missing or of another type.
TrainingSettings trainingSettingsFrom(const Json& json)
{
    TrainingSettings settings;
    json.at("steps").get_to(settings.steps);
    readOptional(json, "seconds", settings.seconds);
    readOptional(json, "lr", settings.rate);
    settings.optimizer = OptimizerKind(indexOf(kOptimizerNames, json.at("optimizer")));
    json.at("momentum").get_to(settings.momentum);
    settings.decays = indexOf(kScheduleNames, json.at("schedule")) > 0;
    settings.loss = TrainingLoss(indexOf(kLossNames, json.at("loss")));
    json.at("learn_scales").get_to(settings.learnsScales);
    readOptional(json, "freeze_bn", settings.freezeBatchNorms);
    readOptional(json, "freeze_observers", settings.freezeObservers);
    json.at("freeze").get_to(settings.frozen);
    json.at("seed").get_to(settings.seed);
    json.at("guard").get_to(settings.guard);
    json.at("match").get_to(settings.matched);
    return settings;
}

} // namespace

Result<InterruptedTraining> readInterrupted(const std::string& path)
{
    QS_TRY(const NpzDirectory directory, openNpz(path));
    const auto found
        = std::find_if(directory.arrays.begin(), directory.arrays.end(),
                       [](const NpzPlace& place) { return place.name == kCheckpointFacts; });
    const Error other
        = makeError(ErrorCode::BadInput, "it is not a checkpoint of a training").inFile(path);
    if (found == directory.arrays.end() || found->header.shape.size() != 1)
        return fail(other);
    std::string text(std::size_t(found->header.shape.front()), '\0');
    QS_CHECK(directory.archive->read(found->entry, found->start, text.size(), text.data()));
    auto made = guardTorchValue<InterruptedTraining>([&]() -> Result<InterruptedTraining> {
        const Json json = Json::parse(text);
        return InterruptedTraining {trainingSettingsFrom(json.at("settings")),
                                    json.at("from_scratch").get<bool>(),
                                    json.at("steps").get<int>()};
    });
    return made ? std::move(made) : fail(other);
}

Json trainingSettingsJson(const TrainingSettings& settings)
{
    const auto orNull = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    return {{"steps", settings.steps},
            {"seconds", orNull(settings.seconds)},
            {"lr", orNull(settings.rate)},
            {"optimizer", kOptimizerNames.at(std::size_t(settings.optimizer))},
            {"momentum", settings.momentum},
            {"schedule", kScheduleNames.at(std::size_t(settings.decays))},
            {"loss", kLossNames.at(std::size_t(settings.loss))},
            {"learn_scales", settings.learnsScales},
            {"freeze_bn", orNull(settings.freezeBatchNorms)},
            {"freeze_observers", orNull(settings.freezeObservers)},
            {"freeze", settings.frozen},
            {"seed", settings.seed},
            {"guard", settings.guard},
            {"match", settings.matched}};
}

} // namespace qs
