// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// For each position of `graph.nodes()`: the values that no later node reads, so that a run can let
/// go of them there. A value nobody reads dies where it is made; what the Output node reads never
/// dies.
std::vector<std::vector<ValueRef>> lastUses(const Graph& graph);

} // namespace qs
