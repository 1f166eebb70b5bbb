// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"

#include <string_view>

namespace qs {

/// Runs its one subgraph once a step over the first dimension of a sequence. Arguments: `sequence`
/// [steps, ...], `states` (list) and `extra` (list, the same at each step). The subgraph takes the
/// step's slice, the states and the extras, and gives the states after the step. Outputs: the first
/// state of every step stacked [steps, ...], then the states after the last step. Tensors may be
/// quantized.
inline constexpr std::string_view kRecurTarget = "quantscope.recur.default";

/// A module that is quantized from within, as one node; runs its one subgraph, whose inputs are the
/// node's references in order.
inline constexpr std::string_view kLstmTarget = "quantscope.lstm.default";

/// `args`: the three arguments as values.
Result<std::vector<at::IValue>> runRecurrence(const std::vector<at::IValue>& args,
                                              const RunSubgraph& runSubgraph);

/// `args`: values and lists of them, which together are the subgraph's inputs.
Result<std::vector<at::IValue>> runWhole(const std::vector<at::IValue>& args,
                                         const RunSubgraph& runSubgraph);

} // namespace qs
