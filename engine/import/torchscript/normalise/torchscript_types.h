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

/// Element types of the node's tensor outputs, by the operator's row.
void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf);
/// Numbers of dimensions, by the operator's row.
ResultRanks inferRanks(const Node& node, const RankOf& rankOf);
/// Fills in what the rows do not tell: asks the operator, on tensors of the meta device, which hold
/// no elements, so that nothing is computed. Leaves what is unknown where the operands' types and
/// dimensions are not all known, or where the operator has no such kernel.
void probeResults(Node& node, ResultRanks& ranks, const TypeOf& typeOf, const RankOf& rankOf);

} // namespace qs
