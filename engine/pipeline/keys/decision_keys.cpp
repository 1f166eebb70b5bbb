// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/keys/decision_keys.h"

#include "engine/base/files/file_signature.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/json/calibration_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/pipeline/keys/data_identity.h"

namespace qs {

namespace {

/// Identifies the content of a backend: a shipped one by its name, since it changes only with the
/// program; a file by its hash, or by its path if it cannot be read.
std::string backendContent(const std::string& nameOrPath)
{
    if (!isBackendPath(nameOrPath))
        return nameOrPath;
    static ContentHashes hashes; // the window asks on each decision
    return hashes.of(nameOrPath, {}, {}).value_or(nameOrPath);
}

/// Whether an edit applies to a converted form, which planning and calibration do not read.
bool isOfConvertedForm(const EditStep& step)
{
    return step.form != EditForm::Float;
}

} // namespace

Key planningKey(const Recipe& recipe)
{
    Recipe planning = recipe;
    planning.loweringAdd.clear();
    planning.loweringRemove.clear();
    planning.uncalibrated.clear();
    planning.calibration = {};
    planning.limits = {};
    std::erase_if(planning.edits, isOfConvertedForm);
    planning.cures = countedCures(recipe.cures);
    for (Cure& cure : planning.cures)
        cure.file.clear(); // its content counts
    planning.backend.clear(); // its content counts, not its path
    return KeyBuilder("planning")
        .add(recipeToJson(planning))
        .add(backendContent(recipe.target()))
        .add(loadedPacksKey())
        .key();
}

Key loweringKey(const Recipe& recipe)
{
    Recipe lowering;
    lowering.loweringAdd = recipe.loweringAdd;
    lowering.loweringRemove = recipe.loweringRemove;
    lowering.uncalibrated = recipe.uncalibrated;
    return KeyBuilder("lowering").add(recipeToJson(lowering)).key();
}

Key formsKey(const Recipe& recipe)
{
    Recipe edits;
    edits.edits = recipe.edits;
    std::erase_if(edits.edits, [](const EditStep& step) { return !isOfConvertedForm(step); });
    const Key lowering = loweringKey(recipe);
    return edits.edits.empty() ? lowering
                               : KeyBuilder("forms").add(lowering).add(recipeToJson(edits)).key();
}

Key againstKey(const RunSettings& settings)
{
    return std::string(settings.againstOriginal ? "original" : "edited")
        + (settings.allLocalTerms ? ", all local terms" : "");
}

Key cutKey(const CalibrationSettings& settings)
{
    KeyBuilder key("cut");
    key.add(settings.batchSize).add(settings.batches).add(std::int64_t(settings.isSequence));
    if (settings.preprocess)
        key.add(imagePreprocessToJson(*settings.preprocess).dump());
    return key.key();
}

DataState DataState::of(const RunSettings& settings)
{
    return {fileSignature(settings.calibrationData), fileSignature(settings.comparisonData)};
}

DecisionKeys decisionKeys(const std::string& modelSha256, const Recipe& recipe,
                          const RunSettings& settings, const DataState& data)
{
    DecisionKeys keys;
    keys.model = modelSha256;
    keys.planning = planningKey(recipe);
    keys.lowering = formsKey(recipe);
    keys.cut = cutKey(recipe.calibration);
    keys.calibrationData = KeyBuilder("calibration data")
                               .add(settings.calibrationData)
                               .add(data.calibration)
                               .add(settings.device)
                               .key();
    keys.comparisonData
        = KeyBuilder("comparison data").add(settings.comparisonData).add(data.comparison).key();
    keys.plan
        = KeyBuilder("plan").add(keys.model).add(keys.planning).add(loweringKey(recipe)).key();
    keys.calibration = KeyBuilder("calibration")
                           .add(keys.model)
                           .add(keys.planning)
                           .add(keys.cut)
                           .add(keys.calibrationData)
                           .key();
    keys.conversion = KeyBuilder("conversion").add(keys.calibration).add(keys.lowering).key();
    keys.against = againstKey(settings);
    keys.compared = settings.compared();
    keys.comparison = KeyBuilder("comparison")
                          .add(keys.conversion)
                          .add(keys.comparisonData)
                          .add(keys.against)
                          .key();
    return keys;
}

Key contentKey(const Recipe& given, const RunSettings& settings)
{
    Recipe recipe = given;
    recipe.limits = {}; // limits only check results
    recipe.backend = given.target();
    return KeyBuilder("content")
        .add(recipeToJson(recipe))
        .add(settings.calibrationData)
        .add(settings.comparisonData)
        .add(settings.device)
        .add(againstKey(settings))
        .key();
}

} // namespace qs
