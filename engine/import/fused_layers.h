// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Splits modules that were fused before the export (`fuse_fx`, QAT): torch.export records the
/// layer's class for all operators of a fused module. Gives each activation in such a module a
/// submodule of the layer, "conv.relu" of class torch.nn.ReLU, so that fusions match as in the
/// unfused model.
GraphPtr withFusedActivations(const GraphPtr& graph);

} // namespace qs
