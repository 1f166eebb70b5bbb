// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/backend_check.h"

#include "engine/base/json/json_reader.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/backend/constraint_audit.h"
#include "engine/configure/backend/entry_fields.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/dumps/torch_names.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace qs {

namespace {

std::string patternText(const BackendPattern& entry)
{
    return entry.complexFormat.empty() ? "(" + patternLine(entry) + ")" : entry.complexFormat;
}

void collectNames(const Json& value, std::vector<std::string>& names)
{
    if (value.is_string())
        names.push_back(value.get<std::string>());
    if (value.is_array())
        for (const Json& part : value)
            collectNames(part, names);
}

std::vector<std::string> operatorsOf(const BackendPattern& entry)
{
    if (entry.complexFormat.empty())
        return entry.pattern;
    std::vector<std::string> names;
    collectNames(Json::parse(entry.complexFormat, nullptr, false), names);
    return names;
}

/// True for classes: they start with a capital letter, functions and methods do not.
bool isModuleName(const std::string& name)
{
    const auto dot = name.rfind('.');
    return name.find("::") == std::string::npos && !name.starts_with("torch.ops.")
        && dot != std::string::npos && dot + 1 < name.size()
        && std::isupper(static_cast<unsigned char>(name[dot + 1]));
}

/// Checks entries against each other and against PyTorch's names.
class BackendCheck
{
public:
    explicit BackendCheck(const Backend& backend)
        : m_backend(backend)
    {
        if (auto names = TorchNames::load())
            m_torch = std::move(*names);
        else
            warning(names.error().line() + ": names are not checked");
        for (const auto& entry : backend.patterns) {
            if (entry.pattern.size() == 1 && !entry.dtypeConfigs.empty())
                m_quantized.insert(entry.pattern[0]);
            for (const std::string* made : {&entry.fusedModule, &entry.qatModule})
                m_made.insert(*made);
        }
    }

    std::vector<BackendProblem> run()
    {
        for (std::size_t i = 0; i < m_backend.patterns.size(); ++i) {
            const BackendPattern& entry = m_backend.patterns[i];
            m_entry = int(i);
            m_where = "patterns[" + std::to_string(i) + "] " + patternText(entry);
            const auto [first, isNew] = m_seen.emplace(patternText(entry), i);
            if (!isNew)
                warning("the same pattern as patterns[" + std::to_string(first->second)
                        + "] a second time; PyTorch keeps the later one");
            checkFusion(entry);
            checkRoot(entry);
            checkNames(entry);
            checkIndices(entry);
            checkTensorCounts(entry);
            for (std::size_t d = 0; d < entry.dtypeConfigs.size(); ++d)
                checkDTypes(entry, d);
        }
        return std::move(m_problems);
    }

private:
    void error(const std::string& text) { m_problems.push_back({true, prefix() + text, m_entry}); }
    void warning(const std::string& text)
    {
        m_problems.push_back({false, prefix() + text, m_entry});
    }
    std::string prefix() const { return m_where.empty() ? "" : m_where + ": "; }

    void checkFusion(const BackendPattern& entry)
    {
        const bool fuses = !entry.fuserMethod.empty() || !entry.fusedModule.empty();
        if (!fuses && entry.dtypeConfigs.empty())
            error("neither a fuser_method nor dtype_configs: it does nothing");
        if (!fuses)
            return;
        if (entry.fuserMethod.empty())
            error("a fused_module without a fuser_method: nothing fuses it");
        if (entry.pattern.size() == 1)
            error("a fusion needs two or three operators");
        checkFusesModules(entry);
        const std::string made = fusedModuleInEval(entry);
        if (!made.empty() && !m_quantized.count(made))
            error("fuses to " + made
                  + ", which has no entry with dtype_configs: it would stay float; add a pattern ["
                  + made + "]");
    }

    /// As in PyTorch, a fusion replaces its first operator, which must be a module.
    void checkFusesModules(const BackendPattern& entry)
    {
        const std::vector<std::string> names = operatorsOf(entry);
        const bool isChain = entry.complexFormat.empty() && !names.empty();
        if (isChain ? isModuleName(names.front())
                    : std::any_of(names.begin(), names.end(), isModuleName))
            return;
        error("a fusion starts with a module, such as torch.nn.Linear, which the fused module "
              "replaces: "
              + (names.empty() ? std::string()
                               : inQuotes(names.front()) + " is not a module, and the ")
              + "entry never matches; for functions and operators leave fuser_method and "
                "fused_module out and give the pattern dtype_configs: the chain is then quantized "
                "as one operator");
    }

    /// Without a root module, a module's weight is not quantized, regardless of the dtype configs.
    void checkRoot(const BackendPattern& entry)
    {
        const bool weighted = std::any_of(
            entry.dtypeConfigs.begin(), entry.dtypeConfigs.end(),
            [](const DTypeConfig& config) { return config.weight.dtype.has_value(); });
        if (!weighted || !entry.rootModule.empty() || !entry.complexFormat.empty()
            || entry.pattern.size() != 1 || !isModuleName(entry.pattern.front()))
            return;
        const std::string name = fullTorchName(entry.pattern.front());
        for (const std::string& shipped : shippedBackends()) {
            const auto backend = findBackend(shipped);
            if (!backend)
                continue;
            for (const BackendPattern& known : backend->patterns)
                if (!known.rootModule.empty() && known.pattern.size() == 1
                    && fullTorchName(known.pattern.front()) == name)
                    return warning("no root_module: the weight stays float between quantized "
                                   "activations, as in PyTorch; add \"root_module\": \""
                                   + known.rootModule + "\", \"reference_quantized_module\": \""
                                   + known.referenceModule + "\"");
        }
    }

    void checkName(const std::string& key, const std::string& name)
    {
        if (name.empty() || m_torch.empty() || m_torch.has(name) || m_made.count(name))
            return;
        if (const std::string target = operatorTarget(name);
            name.starts_with("torch.ops.") || name.find("::") != std::string::npos) {
            if (target.starts_with("aten.") || packOperator(target))
                return;
            const std::string known = nearestName(target, packOperators());
            return error(key + " '" + name + "' is not an operator of a loaded extension pack"
                         + (known.empty() ? "; give the pack's folder: --extension DIR"
                                          : "; did you mean '" + known + "'?"));
        }
        const std::string near = m_torch.nearest(name);
        const bool ofTorch = name.starts_with("torch.") || name.starts_with("operator.")
            || name.find('.') == std::string::npos;
        const std::string what = key + " '" + name + "'";
        if (ofTorch)
            error(what + " is not in PyTorch"
                  + (near.empty() ? "; write names as in Python: torch.nn.Conv2d, "
                                    "torch.nn.functional.relu, operator.add, reshape"
                                  : "; did you mean '" + near + "'?"));
        else if (key == "pattern")
            warning(what
                    + " is unknown to PyTorch and to this file; it matches single-operator modules "
                      "of that class");
    }

    void checkNames(const BackendPattern& entry)
    {
        for (const std::string& name : operatorsOf(entry))
            checkName("pattern", name);
        checkName("root_module", entry.rootModule);
        checkName("qat_module", entry.qatModule);
        checkName("reference_quantized_module", entry.referenceModule);
        checkName("fused_module", entry.fusedModule);
        if (entry.fuserMethod != "sequential" && entry.fuserMethod.find('.') != std::string::npos)
            checkName("fuser_method", entry.fuserMethod);
    }

    void checkIndices(const BackendPattern& entry)
    {
        if (entry.inputTypeToIndex.empty())
            return;
        const auto names = operatorsOf(entry);
        if (std::all_of(names.begin(), names.end(), isModuleName))
            warning("input_type_to_index says where a function takes its weight; this pattern has "
                    "modules only");
        std::set<int> taken;
        for (const auto& [role, index] : entry.inputTypeToIndex) {
            if (index < 0)
                error("input_type_to_index." + role + " is " + std::to_string(index)
                      + "; arguments count from 0");
            else if (!taken.insert(index).second)
                error("input_type_to_index gives argument " + std::to_string(index) + " two roles");
        }
    }

    void checkTensorCounts(const BackendPattern& entry)
    {
        const auto& map = entry.numTensorArgsToObservationType;
        if (map.empty())
            return;
        for (const int count : {0, 1, 2})
            if (!map.count(count))
                warning("num_tensor_args_to_observation_type says nothing of "
                        + counted(count, "tensor") + ": PyTorch raises there, here "
                        + "observation_type holds");
        if (map.rbegin()->first > 2)
            warning("num_tensor_args_to_observation_type counts the tensors of a binary operator: "
                    + std::to_string(map.rbegin()->first) + " cannot be");
    }

    void checkDTypes(const BackendPattern& entry, std::size_t index)
    {
        const DTypeConfig& config = entry.dtypeConfigs[index];
        const std::string where = m_where;
        const std::string at = where + ".dtype_configs[" + std::to_string(index) + "]";
        const std::pair<const char*, const DTypeWithConstraints*> roles[] {
            {".input_dtype", &config.input},
            {".output_dtype", &config.output},
            {".weight_dtype", &config.weight}};
        for (const auto& [key, value] : roles)
            for (auto& finding : auditConstraints(*value)) {
                m_where = at + key;
                m_problems.push_back({finding.error, prefix() + finding.text, m_entry});
            }
        m_where = at;
        if (config.isDynamic && config.output.dtype && !isFloating(*config.output.dtype))
            error("a dynamic operator returns float, not "
                  + std::string(dtypeName(*config.output.dtype)));
        for (std::size_t earlier = 0; earlier < index; ++earlier)
            if (entry.dtypeConfigs[earlier] == config)
                warning("the same as dtype_configs[" + std::to_string(earlier) + "]");
        m_where = where;
    }

    const Backend& m_backend;
    TorchNames m_torch;
    std::set<std::string> m_quantized; ///< single-operator patterns with dtype configs
    std::set<std::string> m_made; ///< modules produced by entries of the file
    std::map<std::string, std::size_t> m_seen; ///< pattern to its first entry
    std::string m_where;
    int m_entry = -1; ///< index of the entry described by `m_where`
    std::vector<BackendProblem> m_problems;
};

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
    // The training class name includes the batch norm: ConvBnReLU2d becomes ConvReLU2d.
    std::string name = entry.fusedModule;
    const auto at = name.rfind("Bn");
    return at == std::string::npos ? name : name.erase(at, 2);
}

std::vector<BackendProblem> checkBackend(const Backend& backend)
{
    return BackendCheck(backend).run();
}

} // namespace qs
