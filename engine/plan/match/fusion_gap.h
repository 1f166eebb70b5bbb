// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/plan.h"

#include <functional>

namespace qs {

using NameOfNode = std::function<const OpName&(NodeId)>;

/// The names of a node and the operators around it that kernels usually fuse with it, in forward
/// order: {"torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"}; its own name alone without
/// any.
std::vector<std::string> fusableChain(const Graph& graph, NodeId id, const NameOfNode& nameOf);

/// The operators that the backend of the plan would have to fuse (or whose fusion lacks its partner
/// entry) for this node to be quantized; empty if another reason keeps it float.
std::vector<std::string> fusionGap(const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs
