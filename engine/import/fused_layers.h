// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Activations of modules that were fused before the export (`fuse_fx`, QAT): torch.export records
/// the layer's class for all that a fused module computes. Each such activation gets a module of
/// its own below the layer, "conv.relu" of torch.nn.ReLU, so that fusions match it as those of the
/// model before.
GraphPtr withFusedActivations(const GraphPtr& graph);

} // namespace qs
