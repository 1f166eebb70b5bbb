// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Whether a run of the graph is the same each time and takes nothing over from the one before: no
/// state is changed, and no random numbers are drawn. Dropout in evaluation draws none, nor does
/// attention without it, though their operators could.
bool isRepeatable(const Graph& graph);

} // namespace qs
