// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

namespace qs {

/// The first operator of the fusion that the node belongs to; the node itself outside fusions.
NodeId groupRoot(const Graph& graph, const Plan& plan, NodeId node);

/// The node that carries a unit's errors and noise: the last of the fusion or quantized pattern
/// that contains the node; the node itself without one.
NodeId unitEnd(const Graph& graph, const Plan& plan, NodeId node);

/// Whether the plan quantizes the node. False for a node that the plan does not decide.
bool isQuantizedIn(const Graph& graph, const Plan& plan, NodeId node);

/// Whether the node, or the fusion that it belongs to, has a trained weight.
bool isLayer(const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs
