// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend_config.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

std::string patternText(const BackendPattern& entry)
{
    if (!entry.complexFormat.empty())
        return entry.complexFormat;
    std::string text = "(";
    for (std::size_t i = 0; i < entry.pattern.size(); ++i)
        text += (i ? ", " : "") + entry.pattern[i];
    return text + ")";
}

void checkConstraints(const DTypeWithConstraints& value, const std::string& where,
                      std::vector<std::string>& problems)
{
    const auto& low = value.quantMinLowerBound;
    const auto& high = value.quantMaxUpperBound;
    if (low.has_value() != high.has_value())
        problems.push_back(where + ": " + (low ? "quant_min_lower_bound" : "quant_max_upper_bound")
                           + " stands alone; PyTorch ignores it without its partner");
    if (low && high && *low >= *high)
        problems.push_back(where + ": the range " + std::to_string(*low) + ".."
                           + std::to_string(*high) + " is empty: nothing can satisfy it");
    if (value.dtype && isIntegerDType(*value.dtype) && low && high) {
        ObserverSpec spec;
        spec.dtype = *value.dtype;
        const QuantRange limits = quantRange(spec);
        if (*low > limits.max || *high < limits.min)
            problems.push_back(where + ": the range lies outside "
                               + std::string(dtypeName(*value.dtype)));
    }
    if (value.scaleMinLowerBound && value.scaleMaxUpperBound
        && *value.scaleMinLowerBound > *value.scaleMaxUpperBound)
        problems.push_back(where
                           + ": scale_min_lower_bound lies above scale_max_upper_bound: "
                             "nothing can satisfy it");
    if (value.scaleExactMatch.has_value() != value.zeroPointExactMatch.has_value())
        problems.push_back(where
                           + ": scale_exact_match and zero_point_exact_match belong together; "
                             "PyTorch ignores one alone");
    if (value.scaleExactMatch && *value.scaleExactMatch <= 0)
        problems.push_back(where + ": scale_exact_match must be above 0");
}

void checkDTypes(const BackendPattern& entry, const std::string& where,
                 std::vector<std::string>& problems)
{
    for (std::size_t i = 0; i < entry.dtypeConfigs.size(); ++i) {
        const DTypeConfig& config = entry.dtypeConfigs[i];
        const std::string at = where + ".dtype_configs[" + std::to_string(i) + "]";
        checkConstraints(config.input, at + ".input_dtype", problems);
        checkConstraints(config.output, at + ".output_dtype", problems);
        checkConstraints(config.weight, at + ".weight_dtype", problems);
        if (config.isDynamic && config.output.dtype && !isFloating(*config.output.dtype))
            problems.push_back(at + ": a dynamic operator returns float, not "
                               + std::string(dtypeName(*config.output.dtype)));
        for (std::size_t j = 0; j < i; ++j)
            if (entry.dtypeConfigs[j] == config)
                problems.push_back(at + ": the same as dtype_configs[" + std::to_string(j) + "]");
    }
}

} // namespace

bool foldsBatchNorm(const BackendPattern& entry)
{
    return entry.pattern.size() > 1 && !entry.fuserMethod.empty()
        && entry.pattern[1].starts_with("torch.nn.BatchNorm");
}

std::string fusedModuleInEval(const BackendPattern& entry)
{
    if (entry.fuserMethod.empty())
        return {};
    if (!foldsBatchNorm(entry))
        return entry.fusedModule;
    if (entry.pattern.size() == 2)
        return entry.pattern[0];
    // The class for training names the batch norm too: ConvBnReLU2d leaves ConvReLU2d behind.
    std::string name = entry.fusedModule;
    const auto at = name.rfind("Bn");
    return at == std::string::npos ? name : name.erase(at, 2);
}

std::vector<std::string> checkBackend(const Backend& backend)
{
    std::vector<std::string> problems;
    std::set<std::string> single;
    for (const auto& entry : backend.patterns)
        if (entry.pattern.size() == 1 && !entry.dtypeConfigs.empty())
            single.insert(entry.pattern[0]);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < backend.patterns.size(); ++i) {
        const BackendPattern& entry = backend.patterns[i];
        const std::string where = "patterns[" + std::to_string(i) + "] " + patternText(entry);
        if (!seen.insert(patternText(entry)).second)
            problems.push_back(where + ": this pattern stands in the file twice");
        const bool fuses = !entry.fuserMethod.empty() || !entry.fusedModule.empty();
        if (fuses && entry.fuserMethod.empty())
            problems.push_back(where + ": a fused_module without a fuser_method: nothing fuses it");
        if (fuses && entry.pattern.size() == 1)
            problems.push_back(where + ": a fusion needs two or three operators");
        const std::string made = fusedModuleInEval(entry);
        if (fuses && !made.empty() && !single.count(made))
            problems.push_back(where + ": fuses to " + made
                               + ", which has no entry with dtype_configs: it would stay float; "
                                 "add a pattern ["
                               + made + "]");
        if (!fuses && entry.dtypeConfigs.empty())
            problems.push_back(where
                               + ": neither a fuser_method nor dtype_configs: it does nothing");
        checkDTypes(entry, where, problems);
    }
    return problems;
}

} // namespace qs
