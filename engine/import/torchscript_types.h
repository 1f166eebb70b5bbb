// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <functional>
#include <optional>

namespace qs {

/// A TorchScript file says of most values that they are tensors and no more. These fill in what
/// follows from the operator and its operands; what does not follow stays unknown.

using TypeOf = std::function<const ValueType&(ValueRef)>;
using RankOf = std::function<std::optional<std::int64_t>(ValueRef)>;

/// Element types of the node's tensor outputs.
void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf);

/// The number of dimensions of the node's first output.
std::optional<std::int64_t> inferRank(const Node& node, const RankOf& rankOf);
/// True where the node's other outputs have as many dimensions as the first.
bool ranksAgree(const Node& node);

} // namespace qs
