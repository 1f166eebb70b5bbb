// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <functional>
#include <optional>

namespace qs {

using RankOf = std::function<std::optional<std::int64_t>(ValueRef)>;

/// The number of dimensions of the node's first output.
std::optional<std::int64_t> inferRank(const Node& node, const RankOf& rankOf);
/// A convolution or pooling takes one sample or a batch; where nothing determines which, as in a
/// scripted model, the number of dimensions of a batch. Nothing for other operators.
std::optional<std::int64_t> rankOfBatch(const Node& node);
/// True where the node's other outputs have as many dimensions as the first.
bool ranksAgree(const Node& node);

} // namespace qs
