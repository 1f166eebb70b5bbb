// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// A line of torch.ao's maps of custom modules.
struct ClassChange
{
    std::string mode; ///< "static", "dynamic", "weight_only"
    std::string from, to; ///< classes, as models name them
    friend bool operator==(const ClassChange&, const ClassChange&) = default;
};

/// A recipe's `prepare` block: torch.ao's `PrepareCustomConfig`, with keys of this program.
struct PrepareConfig
{
    std::vector<std::string> leafNames; ///< non_traceable_module_name
    std::vector<std::string> leafClasses; ///< non_traceable_module_class
    std::vector<ClassChange> observed; ///< float_to_observed_custom_module_class
    std::vector<std::string> customModules; ///< custom_modules: classes quantized as a whole
    std::vector<std::string> onlyModules; ///< only_modules: everything outside stays float
    std::vector<std::string> wrap; ///< "head", "head::post_process": shown as one node
    std::vector<std::string> unfuse; ///< nodes that never join the operator before them
    /// not_finite: nodes whose value is NaN or Inf on the calibration data, with the observed
    /// value.
    std::map<std::string, std::string> notFinite;
    // Nothing acts on the other keys of torch.ao's.
    std::vector<std::string> preservedAttributes; ///< preserved_attributes
    std::vector<std::int64_t> quantizedInputs; ///< input_quantized_idxs
    std::vector<std::int64_t> quantizedOutputs; ///< output_quantized_idxs
    std::vector<std::string> standaloneNames; ///< standalone_module_name; of a tuple the name
    std::vector<std::string> standaloneClasses; ///< standalone_module_class; of a tuple the class
    friend bool operator==(const PrepareConfig&, const PrepareConfig&) = default;
};
/// A list of names in it.
using PrepareNames = std::vector<std::string> PrepareConfig::*;

/// The keys of a recipe's `convert` block that are torch.ao's `ConvertCustomConfig`.
struct ConvertConfig
{
    std::vector<ClassChange> quantized; ///< observed_to_quantized_custom_module_class
    std::vector<std::string> preservedAttributes; ///< nothing acts on it
    friend bool operator==(const ConvertConfig&, const ConvertConfig&) = default;
};

/// Classes that are quantized as a whole under "custom_modules"; the LSTM is so without being
/// named.
const std::vector<std::string>& optInModules();
/// Those that the recipe wants quantized as a whole: under "custom_modules", or as torch.ao asks,
/// by a map from the class to its quantizable one.
std::vector<std::string> customModulesWanted(const PrepareConfig& prepare);

} // namespace qs
