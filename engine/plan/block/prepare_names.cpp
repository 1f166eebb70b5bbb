// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/prepare_names.h"

#include "engine/base/json/nearest_name.h"
#include "engine/custom_modules/attention/quantizable_attention.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/wrapped_scopes.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// Compares requested names with those of the model.
class NameCheck
{
public:
    NameCheck(const Graph& graph, std::vector<std::string>& warnings)
        : m_warnings(warnings)
    {
        for (const ModuleEntry* module : graph.modules().inOrder()) {
            m_paths.push_back(module->path);
            const std::string name = canonicalTypeName(module->moduleClass);
            if (std::find(m_classes.begin(), m_classes.end(), name) == m_classes.end())
                m_classes.push_back(name);
        }
    }

    void module(const std::string& where, const std::string& name)
    {
        check(where, "module '" + name + "'", name, m_paths);
    }
    /// Checks "head::post_process": a module, and a method from which some of its nodes come.
    void wrapped(const std::string& where, const Graph& graph, const std::string& name)
    {
        const WrapKey key = splitWrapKey(name);
        if (!graph.modules().tryGet(key.path)) {
            module(where, key.path);
            return;
        }
        const std::vector<std::string> functions = functionsOf(graph, key.path);
        if (key.function.empty() || !wrappedScopes(graph, {name}).front().glue.empty()
            || !wrappedScopes(graph, {name}).front().inner.empty())
            return;
        std::string known;
        for (const std::string& function : functions)
            known += (known.empty() ? "" : ", ") + function;
        // A default export records `forward` for all methods that it calls.
        const bool isForwardAlone = known.empty() || known == "forward";
        m_warnings.push_back(where + ": no operator of module '" + key.path + "' comes from '"
                             + key.function + "'; the file knows "
                             + (known.empty() ? "no functions of it" : known)
                             + (isForwardAlone ? ": export the model with strict=True" : ""));
    }
    void moduleClass(const std::string& where, const std::string& name)
    {
        check(where, "module of class '" + name + "'", canonicalTypeName(name), m_classes);
    }

private:
    void check(const std::string& where, const std::string& what, const std::string& name,
               const std::vector<std::string>& known)
    {
        if (std::find(known.begin(), known.end(), name) != known.end())
            return;
        const std::string near = nearestName(name, known);
        m_warnings.push_back(where + ": the model has no " + what
                             + (near.empty() ? "; 'inspect --json' lists its modules"
                                             : "; did you mean '" + near + "'?"));
    }

    std::vector<std::string>& m_warnings;
    std::vector<std::string> m_paths, m_classes;
};

constexpr const char* kObservedMap = "prepare.float_to_observed_custom_module_class";
constexpr const char* kQuantizedMap = "convert.observed_to_quantized_custom_module_class";
constexpr QuantizationMode kModes[] {QuantizationMode::Static, QuantizationMode::Dynamic,
                                     QuantizationMode::WeightOnly};

/// The custom module of a map's source class: the float class, or for a static map the observed
/// one.
CustomModulePtr moduleMapped(const std::string& from)
{
    for (CustomModulePtr& module : customModules())
        if (module->floatClass() == from || module->observedClass() == from)
            return std::move(module);
    return nullptr;
}

/// Why a module is not quantized as a whole in that mode; "" if it is.
std::string whyNoMode(const CustomModule& module, const std::string& mode)
{
    std::string modes;
    for (const QuantizationMode one : kModes) {
        if (!module.takes(one))
            continue;
        if (mode == quantizationModeName(one))
            return {};
        modes += (modes.empty() ? "" : ", ") + std::string(quantizationModeName(one));
    }
    return module.floatClass() + " is quantized as a whole in other modes: " + modes;
}

/// Why a line of torch.ao's maps has no effect; "" if it agrees with what is done.
std::string whyNoMap(const std::string& mode, const std::string& from, const std::string& to)
{
    if (mode == "static" && (from == kAttentionClass || from == kQuantizableAttentionClass)) {
        const std::string wanted
            = from == kAttentionClass ? kQuantizableAttentionClass : kQuantizedAttentionClass;
        return to == wanted ? "" : "map it to " + wanted;
    }
    const CustomModulePtr module = moduleMapped(from);
    // The backend's own entries quantize PyTorch's layers in the modes that observe no input.
    if (mode != "static" && from.starts_with("torch.nn.") && (!module || !module->isGathered()))
        return to.starts_with("torch.") ? "" : "it becomes PyTorch's own quantized class";
    if (!module) {
        std::string known;
        for (const CustomModulePtr& one : customModules())
            known += (known.empty() ? "" : ", ") + one->floatClass();
        return "of custom modules only " + known + " is known here, others come with a pack; "
            + "its operators are planned one by one";
    }
    if (std::string why = whyNoMode(*module, mode); !why.empty())
        return why;
    const bool isObserved = from == module->floatClass() && mode == "static";
    std::string told = isObserved ? module->observedClass() : "";
    for (const QuantizationMode one : kModes)
        if (!isObserved && mode == quantizationModeName(one))
            told = module->quantizedClass(one);
    return told.empty() || told == to ? "" : "it becomes " + told;
}

/// Warns of lines in torch.ao's maps of custom modules that have no effect: unknown classes, or
/// conversions that this program does not have.
void warnOfCustomModules(const std::vector<ClassChange>& changes, const std::string& where,
                         std::vector<std::string>& warnings)
{
    for (const auto& [mode, from, to] : changes)
        if (const std::string why = whyNoMap(mode, from, to); !why.empty())
            warnings.push_back(where + "." + mode + " has no effect for '" + from + "': " + why);
}

/// Warns of torch.ao's keys that are read and stored but have no effect here.
void warnOfIdleKeys(const Recipe& recipe, std::vector<std::string>& warnings)
{
    const PrepareConfig& prepare = recipe.prepare;
    const auto idle = [&](const auto& list, const char* key, const char* why) {
        if (!list.empty())
            warnings.push_back(std::string("prepare.") + key + " has no effect: " + why);
    };
    constexpr auto kEnds = "a model's inputs and outputs stay float";
    constexpr auto kPart = "a module is quantized in place, with the rest of the model";
    idle(prepare.quantizedInputs, "input_quantized_idxs", kEnds);
    idle(prepare.quantizedOutputs, "output_quantized_idxs", kEnds);
    idle(prepare.standaloneNames, "standalone_module_name", kPart);
    idle(prepare.standaloneClasses, "standalone_module_class", kPart);
    warnOfCustomModules(recipe.prepare.observed, kObservedMap, warnings);
    warnOfCustomModules(recipe.convert.quantized, kQuantizedMap, warnings);
}

} // namespace

Result<void> checkCustomModuleModes(const ConvertConfig& convert)
{
    for (const auto& [mode, from, to] : convert.quantized) {
        const CustomModulePtr module = moduleMapped(from);
        const bool isPacks = module && module->isGathered();
        if (const std::string why = isPacks ? whyNoMode(*module, mode) : ""; !why.empty())
            return fail(makeError(ErrorCode::BadInput, kQuantizedMap + ("." + mode) + ": " + why));
    }
    return {};
}

void warnOfPrepareNames(const Graph& graph, const Recipe& recipe,
                        std::vector<std::string>& warnings)
{
    warnOfIdleKeys(recipe, warnings);
    const PrepareConfig& prepare = recipe.prepare;
    NameCheck check(graph, warnings);
    const auto modules = [&check](const char* where, const std::vector<std::string>& names) {
        for (const std::string& name : names)
            check.module(where, name);
    };
    modules("prepare.non_traceable_module_name", prepare.leafNames);
    modules("prepare.standalone_module_name", prepare.standaloneNames);
    modules("prepare.only_modules", prepare.onlyModules);
    const auto classes = [&check](const char* where, const std::vector<std::string>& names) {
        for (const std::string& name : names)
            check.moduleClass(where, name);
    };
    classes("prepare.non_traceable_module_class", prepare.leafClasses);
    classes("prepare.standalone_module_class", prepare.standaloneClasses);
    for (const std::string& name : prepare.wrap)
        check.wrapped("prepare.wrap", graph, name);
    // Classes of the model itself: what static preparation starts from, and what the other modes,
    // which observe nothing, convert at once.
    for (const ClassChange& change : prepare.observed)
        check.moduleClass(std::string(kObservedMap) + ".static", change.from);
    for (const std::string mode : {"dynamic", "weight_only"})
        for (const ClassChange& change : recipe.convert.quantized)
            if (change.mode == mode)
                check.moduleClass(kQuantizedMap + ("." + mode), change.from);
}

} // namespace qs
