// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// A module quantized inside its own subgraph, as one node. Runs that subgraph, whose inputs are
/// the node's references in order.
inline constexpr std::string_view kModuleTarget = "quantscope.module.default";

/// Runs its one subgraph once per step along the first dimension of a sequence. Arguments:
/// `sequence` [steps, ...], `states` (list) and `extra` (list, constant over the steps). The
/// subgraph takes the step's slice, the states and the extras, and returns the states after the
/// step. Outputs: the first state of every step stacked [steps, ...], then the states after the
/// last step. Tensors may be quantized.
inline constexpr std::string_view kRecurTarget = "quantscope.recur.default";

/// Several nodes kept together because they change values in place through views; runs its one
/// subgraph on private copies of the arguments that it writes to. Arguments: `operands` (list) and
/// `written` (list of positions in operands).
inline constexpr std::string_view kRegionTarget = "quantscope.region.default";

/// The operator every observer node has; an identity for the interpreter.
inline constexpr std::string_view kObserveTarget = "quantscope.observe.default";
/// Marks a value that its producer already quantized (torch.ao's DeQuantStub after a custom
/// module). Identity; observes nothing.
inline constexpr std::string_view kStubTarget = "quantscope.dequant_stub.default";

} // namespace qs
