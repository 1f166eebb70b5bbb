// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

namespace qs {

/// The first operator of the fusion that the node belongs to; the node itself where it is in none.
NodeId groupRoot(const Graph& graph, const Plan& plan, NodeId node);

/// The node on which a unit's errors and noise stand: the last of the fusion, or of the quantized
/// pattern, that the node belongs to; the node itself without one.
NodeId unitEnd(const Graph& graph, const Plan& plan, NodeId node);

/// Whether the plan quantizes the node. False for a node that the plan does not decide.
bool isQuantizedIn(const Graph& graph, const Plan& plan, NodeId node);

/// Whether the node, or the fusion that it belongs to, has a trained weight.
bool isLayer(const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs
