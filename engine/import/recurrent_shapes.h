// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Corrects result shapes of LSTMs and GRUs: the final states have the shape of the initial ones,
/// but torch.export records others for several layers. Values computed from a corrected value get
/// the shapes that the operators infer, and a note reports it. Runs no operator on data.
Result<Graph> withRecurrentShapes(const Graph& graph);

} // namespace qs
