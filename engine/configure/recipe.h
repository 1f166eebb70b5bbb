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

/// A row of the lowering table the user adds or removes: the reference pattern and the kernel it
/// becomes.
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
        = false; ///< key "sequence": the state of mutated buffers goes from batch to batch
    std::optional<ImagePreprocess> preprocess {}; ///< for data that are a folder of images
    friend bool operator==(const CalibrationSettings&, const CalibrationSettings&) = default;
};

/// Every decision in one file (design 3). A value; the window edits copies of it.
struct Recipe
{
    /// A shipped name or a file; empty where none was chosen: `target` is planned for then.
    std::string backend;
    std::vector<std::string> extensions; ///< names of the packs that it needs
    std::map<std::string, QConfig> qconfigs; ///< the recipe's own named qconfigs
    QConfigMapping mapping; ///< own rules only, in file order; the backend's defaults are added by
                            ///< `effectiveMapping`
    PrepareConfig prepare;
    ConvertConfig convert;
    std::vector<LoweringRow> loweringAdd;
    std::vector<LoweringRow> loweringRemove;
    /// Float nodes whose observers may lack data (key "convert.uncalibrated"): they quantize with
    /// scale 1 and zero point 0. For other nodes such an observer stops the conversion.
    std::vector<std::string> uncalibrated;
    CalibrationSettings calibration;
    /// Applied to the model's graph in this order before anything else (`engine/edit`).
    std::vector<EditStep> edits;
    /// Decisions that mend a loss, above the rules of the mapping (key "cures").
    std::vector<Cure> cures;
    /// Key "needless_outputs": "float": quantized layers that only float operators read give their
    /// result as float.
    bool floatNeedless = false;
    GateLimits limits; ///< limits that `check` applies to a result of this recipe (key "limits")

    bool namesTarget() const { return !backend.empty(); }
    /// The backend that is planned for: the recipe's own, else x86.
    const std::string& target() const;
    friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// The recipe of runs without one: no backend chosen, global = x86, batch_size 8, batches
/// 16.
Recipe defaultRecipe();
/// A backend file is named relative to the recipe's own folder; read, its path is absolute.
Result<Recipe> readRecipe(const std::string& path);
/// The recipe as it is written into the file at `path`: a backend file in its folder or below is
/// named relative to it.
Recipe writtenBeside(Recipe recipe, const std::string& path);
/// Unknown keys, observers, dtypes, schemes, qconfig names are errors that name the key and list
/// the valid ones.
Result<Recipe> parseRecipe(const std::string& json, const std::string& path);
/// Canonical text: stable key order, two-space indent, ends with a newline; parses back to an equal
/// recipe.
std::string recipeToJson(const Recipe& recipe);
/// The recipe's rules on top of the defaults that a backend's name under "global" brings (design
/// 3).
QConfigMapping effectiveMapping(const Recipe& recipe);
/// Resolves a qconfig name: the recipe's own first, then presets.
std::optional<QConfig> findQConfig(const Recipe& recipe, std::string_view name);

} // namespace qs
