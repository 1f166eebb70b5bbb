// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Whether values of one run of the graph may stand for those of another: no state is changed, and
/// no random numbers are drawn (`drawsNumbers`), which follow from the shape of what is asked for.
bool isRepeatable(const Graph& graph);

} // namespace qs
