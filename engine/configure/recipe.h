// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/cure.h"
#include "engine/configure/custom_config.h"
#include "engine/configure/edit_step.h"
#include "engine/configure/gate_limits.h"
#include "engine/configure/image_preprocess.h"
#include "engine/configure/qconfig_mapping.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A row that the user adds to or removes from the lowering table: the reference pattern and its
/// kernel.
struct LoweringRow
{
    std::vector<std::string> pattern;
    std::string to; ///< "quantized::conv2d_relu"; empty in a removal
    friend bool operator==(const LoweringRow&, const LoweringRow&) = default;
};

struct CalibrationSettings
{
    int batchSize = 8;
    int batches = 16;
    bool isSequence
        = false; ///< key "sequence": the state of mutated buffers is carried from batch to batch
    std::optional<ImagePreprocess> preprocess {}; ///< for data that are images
    friend bool operator==(const CalibrationSettings&, const CalibrationSettings&) = default;
};

/// All decisions in one file (design 3). A value type; the window edits copies of it.
struct Recipe
{
    /// A shipped name or a file; empty if none is chosen (see `target`).
    std::string backend;
    std::vector<std::string> extensions; ///< names of required extension packs
    std::map<std::string, QConfig> qconfigs; ///< the recipe's own named qconfigs
    QConfigMapping mapping; ///< own rules only, in file order; the backend's defaults are added by
                            ///< `effectiveMapping`
    PrepareConfig prepare;
    ConvertConfig convert;
    std::vector<LoweringRow> loweringAdd;
    std::vector<LoweringRow> loweringRemove;
    /// Float nodes whose observers may have no data (key "convert.uncalibrated"): they quantize
    /// with scale 1 and zero point 0. For other nodes, an observer without data is a conversion
    /// error.
    std::vector<std::string> uncalibrated;
    CalibrationSettings calibration;
    /// Applied to the model's graph in this order before anything else (`engine/edit`).
    std::vector<EditStep> edits;
    /// Decisions that reduce an accuracy loss; they override the mapping's rules (key "cures").
    std::vector<Cure> cures;
    /// Key "needless_outputs": "float": quantized layers with only float consumers return a float
    /// result.
    bool floatNeedless = false;
    GateLimits limits; ///< limits that `check` applies to a result of this recipe (key "limits")

    bool namesTarget() const { return !backend.empty(); }
    /// The backend used for planning: the recipe's own, else x86.
    const std::string& target() const;
    friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// The recipe used if none is given: no backend chosen, global = x86, batch_size 8, batches 16.
Recipe defaultRecipe();
/// Reads a recipe. The path of a backend file is relative to the recipe's folder in the file,
/// absolute in the result.
Result<Recipe> readRecipe(const std::string& path);
/// Returns the recipe as written to the file at `path`: a backend file in the same folder or below
/// gets a relative path.
Recipe writtenBeside(Recipe recipe, const std::string& path);
/// Fails on unknown keys, observers, dtypes, schemes and qconfig names; errors name the key and
/// list the valid ones.
Result<Recipe> parseRecipe(const std::string& json, const std::string& path);
/// Canonical text: stable key order, two-space indent, ends with a newline; parses back to an equal
/// recipe.
std::string recipeToJson(const Recipe& recipe);
/// Returns the recipe's rules, preceded by the default rules implied by a backend's name under
/// "global" (design 3).
QConfigMapping effectiveMapping(const Recipe& recipe);
/// Resolves a qconfig name: the recipe's own first, then presets.
std::optional<QConfig> findQConfig(const Recipe& recipe, std::string_view name);

} // namespace qs
