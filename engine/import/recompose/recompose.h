// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <set>
#include <string>
#include <unordered_map>

namespace qs {

/// The function call that each node is a part of ("hardswish_1"), as recorded in the file.
using FunctionCalls = std::unordered_map<NodeId, std::string>;

/// Replaces decomposed functions by the operators that the model called. Core ATen decomposes some
/// functions (`decomposed_calls`), mostly into several operators, for which no backend has a
/// pattern. A call is replaced if all its operators are present and compute one value. Results are
/// bit-identical if the returned weights do not require gradients: their layers were decomposed
/// into a batch of products, while `matmul` computes one product if a weight requires gradients
/// (`should_fold`).
std::set<NodeId> recompose(GraphEdit& edit, const FunctionCalls& calls);

} // namespace qs
