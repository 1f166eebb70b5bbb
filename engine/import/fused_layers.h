// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Splits modules that were fused before the export (`fuse_fx`, QAT): torch.export records the
/// layer's class for all operators of a fused module. Each activation in one gets a module
/// below the layer, "conv.relu" of torch.nn.ReLU, so that fusions match it as in the unfused
/// model.
GraphPtr withFusedActivations(const GraphPtr& graph);

} // namespace qs
