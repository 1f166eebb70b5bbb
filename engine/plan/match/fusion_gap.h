// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/plan.h"

#include <functional>

namespace qs {

using NameOfNode = std::function<const OpName&(NodeId)>;

/// The names of a node and the operators around it that kernels usually fuse with it, in forward
/// order: {"torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"}. Only the node's name
/// without such operators.
std::vector<std::string> fusableChain(const Graph& graph, NodeId id, const NameOfNode& nameOf);

/// The operators that the plan's backend would have to fuse for this node to be quantized, or whose
/// fusion lacks its partner entry; empty if another reason keeps the node float.
std::vector<std::string> fusionGap(const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs
