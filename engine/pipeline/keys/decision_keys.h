// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/configure/recipe.h"
#include "engine/pipeline/run_settings.h"

namespace qs {

/// The state of the data files that settings name (`fileSignature`). A value.
struct DataState
{
    std::string calibration, comparison;
    static DataState of(const RunSettings& settings);
    friend bool operator==(const DataState&, const DataState&) = default;
};

/// For each stage, the key of its inputs under the current decisions: the model, the parts of the
/// recipe that the stage reads, the backend's content, the data and how they are cut, the device.
/// A result is current if it has this key. The keys of the parts follow; they explain why two
/// sets of keys differ.
struct DecisionKeys
{
    Key plan, calibration, conversion, comparison;
    Key model, planning, lowering, cut, calibrationData, comparisonData, against;
    std::string compared; ///< `RunSettings::compared`, for readers
};

/// Reads the backend's file if the recipe names one, and no data. Never fails: a file that cannot
/// be read enters the key by its path. `modelSha256`: `ModelInfo::sha256`, or any name of the
/// model.
DecisionKeys decisionKeys(const std::string& modelSha256, const Recipe& recipe,
                          const RunSettings& settings, const DataState& data);

/// Key of the parts of a recipe that planning reads: all except those that only the conversion
/// reads and the calibration settings, with the backend's content in place of its path.
Key planningKey(const Recipe& recipe);
/// Key of the parts that only the conversion reads: lowering rows and waived observers.
Key loweringKey(const Recipe& recipe);
/// Key of the inputs of the conversion beside the calibration: `loweringKey` and the edits of the
/// forms, which planning does not read.
Key formsKey(const Recipe& recipe);
/// Key of the float side of a comparison.
Key againstKey(const RunSettings& settings);
/// Key of how data are cut into batches and read.
Key cutKey(const CalibrationSettings& settings);

/// Equal for recipes and settings that a project or recipe file stores equally: decides "saved".
Key contentKey(const Recipe& recipe, const RunSettings& settings);

} // namespace qs
