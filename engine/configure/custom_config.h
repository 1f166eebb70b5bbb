// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// One entry of torch.ao's maps of custom modules.
struct ClassChange
{
    std::string mode; ///< "static", "dynamic", "weight_only"
    std::string from, to; ///< classes by their names in models
    friend bool operator==(const ClassChange&, const ClassChange&) = default;
};

/// A recipe's `prepare` block: torch.ao's `PrepareCustomConfig`, extended by keys of this program.
struct PrepareConfig
{
    std::vector<std::string> leafNames; ///< non_traceable_module_name
    std::vector<std::string> leafClasses; ///< non_traceable_module_class
    std::vector<ClassChange> observed; ///< float_to_observed_custom_module_class
    std::vector<std::string> customModules; ///< custom_modules: classes quantized as one unit
    std::vector<std::string> onlyModules; ///< only_modules: all other modules stay float
    std::vector<std::string> wrap; ///< "head", "head::post_process": shown as one node
    std::vector<std::string> unfuse; ///< nodes never fused into the preceding operator
    /// not_finite: nodes whose value is NaN or Inf on the calibration data, with the observed
    /// value.
    std::map<std::string, std::string> notFinite;
    // The remaining keys of torch.ao have no effect.
    std::vector<std::string> preservedAttributes; ///< preserved_attributes
    std::vector<std::int64_t> quantizedInputs; ///< input_quantized_idxs
    std::vector<std::int64_t> quantizedOutputs; ///< output_quantized_idxs
    std::vector<std::string> standaloneNames; ///< standalone_module_name; for a tuple its name
    std::vector<std::string> standaloneClasses; ///< standalone_module_class; for a tuple its class
    friend bool operator==(const PrepareConfig&, const PrepareConfig&) = default;
};
/// Selects one of the name lists of PrepareConfig.
using PrepareNames = std::vector<std::string> PrepareConfig::*;

/// The keys of a recipe's `convert` block that are torch.ao's `ConvertCustomConfig`.
struct ConvertConfig
{
    std::vector<ClassChange> quantized; ///< observed_to_quantized_custom_module_class
    std::vector<std::string> preservedAttributes; ///< has no effect
    friend bool operator==(const ConvertConfig&, const ConvertConfig&) = default;
};

/// Classes that are quantized as one unit if listed under "custom_modules". The LSTM needs no
/// listing.
const std::vector<std::string>& optInModules();
/// Returns the classes that the recipe quantizes as one unit: listed under "custom_modules", or
/// mapped to torch.ao's quantizable class.
std::vector<std::string> customModulesWanted(const PrepareConfig& prepare);

} // namespace qs
