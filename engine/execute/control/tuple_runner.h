// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace qs {

/// True for "builtins.tuple" and "operator.getitem" (graph/operators/tuple_ops.h).
bool isTupleOp(std::string_view target);

/// Runs one of them: makes a tuple of a list, or reads an element of a tuple, list, dictionary or
/// along a tensor's first dimension. Errors: an index out of range, a container that has no
/// elements.
Result<at::IValue> runTupleOp(std::string_view target, const std::vector<at::IValue>& args);

/// Appends the leaves of a value: the elements of tuples and lists, nested ones included, in order.
void flattenLeaves(const at::IValue& value, std::vector<at::IValue>& leaves);

/// Packs leaves in order into the node's outputs: one leaf each, for a Tuple output as many as its
/// structure has. Errors: a structure that does not parse, too few leaves.
Result<std::vector<at::IValue>> packOutputs(const Node& node,
                                            const std::vector<at::IValue>& leaves);

} // namespace qs
