// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

namespace qs {

/// True for operators that a static qconfig turns into a module of torch.ao's own making,
/// whatever the backend's patterns say: `torch.nn.LSTM` becomes `torch.ao.nn.quantizable.LSTM`,
/// then `torch.ao.nn.quantized.LSTM` (torch.ao `float_to_observed_custom_module_class`, there by
/// hand).
bool isCustomModule(const OpName& name);

/// Gives custom modules for which the backend has no pattern a match without an entry.
void addCustomModuleMatches(const Graph& graph, const OpNames& names, Matches& matches);

/// The verdict on a custom module under a static qconfig; none for other operators and qconfigs,
/// which the backend's patterns decide.
std::optional<Verdicts> decideCustomModule(const Graph& graph, const Node& node, const OpName& name,
                                           const NamedQConfig& qconfig);

} // namespace qs
