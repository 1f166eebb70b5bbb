// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/reason/reason.h"
#include "engine/plan/wrapped_scopes.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The part of the recipe's `prepare` and `convert` blocks that planning uses, for lookup.
struct PrepareSettings
{
    std::set<std::string> leafNames; ///< non_traceable_module_name
    std::set<std::string> leafClasses; ///< non_traceable_module_class, canonical
    /// Classes that the maps of custom modules name, canonical, with the modes they are mapped in
    /// ("static", "dynamic", "weight_only"): leaves of such a class are quantized as a whole.
    std::map<std::string, std::set<std::string>> mappedModes;
    std::set<std::string> onlyModules; ///< only_modules: everything outside stays float
    std::vector<std::string> wraps; ///< wrap: "head", "head::post_process"
    std::set<std::string> unfused; ///< unfuse: nodes that never join the operator before them
    /// not_finite: nodes whose value is NaN or Inf on the calibration data, with the observed
    /// value.
    std::map<std::string, std::string> notFinite;
};
PrepareSettings prepareSettings(const Recipe& recipe);

/// Why the `prepare` block keeps an operator float.
struct ModuleChoice
{
    std::string key; ///< of the block: "non_traceable_module_name"
    std::string name; ///< the entry in that list; "" if the node is outside all entries
    Reason reason;
    std::string remedy; ///< change of the recipe that would quantize it
};

/// The decisions of a `prepare` block on the operators of one graph. Leaves take precedence over
/// wraps, and wraps over only_modules. A value; any thread.
class ModuleChoices
{
public:
    ModuleChoices(const Graph& graph, const PrepareSettings& settings);

    /// Null for an operator that the block leaves to the rules.
    const ModuleChoice* tryGet(NodeId node) const;
    bool keepsFloat(NodeId node) const { return tryGet(node) != nullptr; }
    bool empty() const { return m_of.empty(); }
    /// The modes of a leaf whose class the maps of custom modules name, so that it is not kept
    /// float; null for all other operators.
    const std::set<std::string>* mappedModes(NodeId node) const;
    const std::vector<WrappedScope>& wraps() const { return m_wraps; }

private:
    void add(const ModuleChoice& choice, const std::vector<NodeId>& nodes);

    std::vector<ModuleChoice> m_choices;
    std::unordered_map<NodeId, std::size_t> m_of;
    std::unordered_map<NodeId, std::set<std::string>> m_mapped;
    std::vector<WrappedScope> m_wraps;
};

/// The wrapped scopes of a recipe in a graph, for views.
std::vector<WrappedScope> wrapsOf(const Graph& graph, const Recipe& recipe);

} // namespace qs
