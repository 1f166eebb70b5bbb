// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The graph for showing as code: objects of packs' classes whole, their methods under Python's
/// names ("torch.classes.sites.SparseTensor.dense"). Nodes keep their ids.
GraphPtr withPythonObjects(const Graph& graph);

} // namespace qs
