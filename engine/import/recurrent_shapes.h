// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Shapes of the results of LSTMs and GRUs by rule: the last states are as large as the first.
/// torch.export records others for several layers. Where one was wrong, values computed from it get
/// the shapes that the operators infer, and a note reports it. Runs no operator on data.
Result<Graph> withRecurrentShapes(const Graph& graph);

} // namespace qs
