// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"
#include "engine/graph/operators/engine_ops.h"

namespace qs {

/// Runs a `kRecurTarget` node; `args`: its three arguments as values.
Result<std::vector<at::IValue>> runRecurrence(const std::vector<at::IValue>& args,
                                              const RunSubgraph& runSubgraph);

/// Runs a `kModuleTarget` node; `args`: values and lists of values, which together are the
/// subgraph's inputs.
Result<std::vector<at::IValue>> runWhole(const std::vector<at::IValue>& args,
                                         const RunSubgraph& runSubgraph);

} // namespace qs
