// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"
#include "engine/plan/decide.h"

namespace qs {

/// The custom module that an operator is, by the name that patterns see; null for all others.
CustomModulePtr customModuleOf(const Node& node, const OpName& name);

/// Gives custom modules for which the backend has no pattern a match without an entry.
void addCustomModuleMatches(const Graph& graph, const OpNames& names, Matches& matches);

/// The verdict on a custom module under a qconfig of a mode that it takes; empty for other
/// operators and qconfigs, which the backend's patterns decide.
std::optional<Verdicts> decideCustomModule(const Graph& graph, const Node& node, const OpName& name,
                                           const NamedQConfig& qconfig);

/// Keeps a leaf float whose qconfig is of another mode than the recipe's maps of custom modules
/// name its class in.
void holdToMappedModes(const Node& node, const std::set<std::string>& modes, Verdicts& out);

/// A module that the plan quantizes as a whole.
struct PlannedModule
{
    const Node* node = nullptr; ///< of the float graph
    CustomModulePtr module;
    QuantizationMode mode = QuantizationMode::Static;
};
/// In graph order. `model` is the graph that was planned; the nodes are its own.
std::vector<PlannedModule> plannedModules(const Graph& model, const Plan& plan);

} // namespace qs
