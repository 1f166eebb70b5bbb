// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The graph for display as code: objects of packs' classes are joined into one value each, and
/// methods have Python's names ("torch.classes.sites.SparseTensor.dense"). Nodes keep their ids.
GraphPtr withPythonObjects(const Graph& graph);

} // namespace qs
