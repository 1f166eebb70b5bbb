// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <functional>
#include <optional>

namespace qs {

/// A TorchScript file says of most values that they are tensors and no more. These fill in what
/// follows from the operator and its operands; what does not follow stays unknown.

/// Element types of the node's tensor outputs.
void inferTypes(Node& node, const std::function<const ValueType&(ValueRef)>& typeOf);

/// The number of dimensions of the node's first output.
std::optional<std::int64_t>
inferRank(const Node& node, const std::function<std::optional<std::int64_t>(ValueRef)>& rankOf);

} // namespace qs
