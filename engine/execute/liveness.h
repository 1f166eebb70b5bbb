// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// For each position of `graph.nodes()`: the values that no later node reads, so that a run can
/// free them there. A value without consumers dies where it is made; values that the Output node
/// reads never die.
std::vector<std::vector<ValueRef>> lastUses(const Graph& graph);

} // namespace qs
