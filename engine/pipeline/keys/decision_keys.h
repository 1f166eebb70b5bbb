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

/// For each stage, what its result would be made from under the decisions as they stand: the model,
/// the parts of the recipe that the stage reads, the backend's content, the data and how they are
/// cut, the device. A result is current when its key is this one. Below them the parts, by which
/// two sets of keys tell why they differ.
struct DecisionKeys
{
    Key plan, calibration, conversion, comparison;
    Key model, planning, lowering, cut, calibrationData, comparisonData, against;
    std::string compared; ///< `RunSettings::compared`, for readers
};

/// Reads the backend's file where the recipe names one, and no data. Never fails: what cannot be
/// read is part of the key as its path. `modelSha256`: `ModelInfo::sha256`, or any name of the
/// model.
DecisionKeys decisionKeys(const std::string& modelSha256, const Recipe& recipe,
                          const RunSettings& settings, const DataState& data);

/// The part of a recipe that decides what is calibrated: everything but what the conversion alone
/// reads and the calibration settings, with the backend's content in place of its path.
Key planningKey(const Recipe& recipe);
/// What only the conversion reads: lowering rows and waived observers.
Key loweringKey(const Recipe& recipe);
/// What a comparison is measured against.
Key againstKey(const RunSettings& settings);
/// How data are cut into batches and read.
Key cutKey(const CalibrationSettings& settings);

/// Equal for recipes and settings that a project or a recipe file keeps alike: what "saved" means.
Key contentKey(const Recipe& recipe, const RunSettings& settings);

} // namespace qs
