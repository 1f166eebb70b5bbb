// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Inserts `call`, whose arguments and outputs are set, before the node `before`. Takes scope,
/// source and origin of `like`; a valid `origin` replaces the origin.
NodeId insertCall(GraphEdit& edit, const Node& like, NodeId before, NodeId origin, Node call);

/// The dispatcher's operator for "quantized::conv2d" (the current overload `new` if there is one)
/// or "quantized::conv2d.new". For an operator that takes or returns objects of a pack's class: the
/// overload with the objects' fields. Empty if LibTorch has no such operator.
std::optional<c10::OperatorHandle> findKernel(const std::string& kernel);

/// Checks that an operator's weight is stored as [out, in]; returns its source: a dequantize node
/// or a cast. Errors (Unsupported) name the obstacle.
Result<ValueRef> storedWeight(const GraphEdit& edit, const Node& root, const WeightedOp& op);
/// The qint8 weight before the dequantize step whose result is `dequantized`.
Result<ValueRef> quantizedWeight(const GraphEdit& edit, ValueRef dequantized);
/// The float weight before the casts to half precision and back whose result is `cast`.
Result<ValueRef> halfWeight(const GraphEdit& edit, ValueRef cast);

/// Inserts `quantized::<kind>_prepack` of `weight` before the node `before`, with bias and geometry
/// of the operator `root`, and returns the packed parameters.
Result<ValueRef> insertPrepack(GraphEdit& edit, const Node& root, const std::string& kind,
                               ValueRef weight, NodeId before, NodeId origin);
/// Inserts a call of a packing operator ("quantized::linear_prepack") and returns its object.
Result<ValueRef> insertPackingCall(GraphEdit& edit, const Node& like, const std::string& packing,
                                   std::vector<NamedArgument> args, NodeId before, NodeId origin);

} // namespace qs
