// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <set>
#include <string>
#include <unordered_map>

namespace qs {

/// Which call of which function each node is a part of ("hardswish_1"), as the file reports.
using FunctionCalls = std::unordered_map<NodeId, std::string>;

/// Core ATen spells some functions as other operators, most of them as several, for which no
/// backend has a pattern. Where all of a call's operators are there and make one value, the
/// operator that the model called takes their place (`decomposed_calls` lists them). Its values
/// are the same to the bit, if the returned weights do not require gradients: their layers were
/// spelled as a batch of products, and `matmul` makes one product where a weight does
/// (`should_fold`).
std::set<NodeId> recompose(GraphEdit& edit, const FunctionCalls& calls);

} // namespace qs
