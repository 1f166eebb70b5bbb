// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/effects.h"

#include <ATen/core/jit_type_base.h>

#include <string>
#include <string_view>

namespace qs {

// TorchScript's control flow as nodes. All are pure: a body returns its changes as values.
//
// prim.If.default(condition, then, otherwise, then_operands, else_operands): the subgraphs by name
// prim.Loop.default(trips, condition, body, carried, operands): the body takes the iteration's
//     number, the carried values and the operands, and returns whether to go on and the carried
//     values; the node's values are the carried ones at the end
// prim.RaiseException.default(message): fails
// prim.TupleConstruct.default(values), prim.ListConstruct.default(values, type),
// prim.DictConstruct.default(values, keys), prim.Unpack.default(values),
// prim.TupleIndex.default(values, index)

/// The element type that a list's `type` names, if LibTorch's operators distinguish it; else Any,
/// and each element has its type.
c10::TypePtr scriptElementType(const std::string& name);

/// True for the targets above.
bool isScriptControl(std::string_view target);

/// Runs such a node; `args`: its arguments as values, subgraphs as their names.
Result<std::vector<at::IValue>> runScriptControl(const Node& node,
                                                 const std::vector<at::IValue>& args,
                                                 const RunSubgraph& runSubgraph);

} // namespace qs
