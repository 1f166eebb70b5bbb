// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// True if values of one run of the graph may replace those of another: it changes no state and
/// draws no random numbers (`drawsNumbers`).
bool isRepeatable(const Graph& graph);

} // namespace qs
