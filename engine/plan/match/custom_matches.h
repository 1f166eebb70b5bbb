// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"
#include "engine/plan/decide.h"

namespace qs {

/// The custom module that an operator represents, by its name in patterns; null for other
/// operators.
CustomModulePtr customModuleOf(const Node& node, const OpName& name);

/// Gives custom modules for which the backend has no pattern a match without an entry.
void addCustomModuleMatches(const Graph& graph, const OpNames& names, Matches& matches);

/// The verdict on a custom module under a qconfig of a mode that it supports; empty for other
/// operators and qconfigs, which the backend's patterns decide.
std::optional<Verdicts> decideCustomModule(const Graph& graph, const Node& node, const OpName& name,
                                           const NamedQConfig& qconfig);

/// Keeps a leaf float if the mode of its qconfig is not one of `modes`, those of its class in the
/// recipe's maps of custom modules.
void holdToMappedModes(const Node& node, const std::set<std::string>& modes, Verdicts& out);

/// A module that the plan quantizes as a whole.
struct PlannedModule
{
    const Node* node = nullptr; ///< of the float graph
    CustomModulePtr module;
    QuantizationMode mode = QuantizationMode::Static;
};
/// The plan's custom modules in graph order. `model` is the planned graph; it owns the nodes.
std::vector<PlannedModule> plannedModules(const Graph& model, const Plan& plan);

} // namespace qs
