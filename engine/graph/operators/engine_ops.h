// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// A module that is quantized from within, as one node: runs its one subgraph, whose inputs are the
/// node's references in order.
inline constexpr std::string_view kModuleTarget = "quantscope.module.default";

/// Runs its one subgraph once a step over the first dimension of a sequence. Arguments: `sequence`
/// [steps, ...], `states` (list) and `extra` (list, the same at each step). The subgraph takes the
/// step's slice, the states and the extras, and gives the states after the step. Outputs: the first
/// state of every step stacked [steps, ...], then the states after the last step. Tensors may be
/// quantized.
inline constexpr std::string_view kRecurTarget = "quantscope.recur.default";

} // namespace qs
