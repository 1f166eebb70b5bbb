// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/ivalue.h>

namespace qs {

/// Index of the node's subgraph that an argument names (`kSubgraphPrefix` and a number). Errors
/// (BadInput): it does not name one.
Result<std::size_t> subgraphIndex(const Node& node, const at::IValue& name);

/// A condition as Python reads it: a bool, an integer or a tensor of one element. May throw
/// c10::Error.
bool isTrue(const at::IValue& value);

} // namespace qs
