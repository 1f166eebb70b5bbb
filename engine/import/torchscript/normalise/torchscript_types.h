// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <functional>
#include <optional>
#include <vector>

namespace qs {

/// A TorchScript file says of most values that they are tensors and no more. These fill in what
/// follows from the operator and its operands; what does not follow stays unknown.

using TypeOf = std::function<const ValueType&(ValueRef)>;
using RankOf = std::function<std::optional<std::int64_t>(ValueRef)>;

/// Numbers of dimensions, one an output.
struct ResultRanks
{
    std::vector<std::optional<std::int64_t>> counts;
    /// A convolution or pooling takes one sample or a batch; nothing determines which, so that
    /// these are those of a batch.
    bool areAssumed = false;
};

/// Fills in element types of the node's tensor outputs and returns their numbers of dimensions: by
/// the operator's row, else as the operator itself answers on the meta device, which computes
/// nothing. May take an operand whose type or dimensions are not known for any other where the
/// answer does not depend on it.
ResultRanks inferResults(Node& node, const TypeOf& typeOf, const RankOf& rankOf);

} // namespace qs
