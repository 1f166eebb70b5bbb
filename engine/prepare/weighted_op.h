// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/operators.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Argument names of an operator with a trained weight.
struct WeightedOp
{
    using Kind = OperatorFacts::Weighted;
    Kind kind = Kind::Linear;
    std::string input, weight, bias; ///< argument names; bias "" = the operator has none
};

/// The argument names of `node` if it is one of ATen's convolution, linear or embedding operators,
/// or an operator of an extension pack with a weight; else empty.
std::optional<WeightedOp> weightedOp(const Node& node);

/// Position of the argument of that name in `node.args`, or -1.
int argumentIndex(const Node& node, std::string_view name);
/// The value that an argument refers to; invalid if the argument is absent, None or a constant.
ValueRef argumentRef(const Node& node, std::string_view name);

/// The source of a weight argument: core ATen passes a linear's weight through `permute` or
/// `t`.
struct WeightPath
{
    ValueRef source; ///< the first value that is not only a change of layout
    std::vector<NodeId> layout; ///< the layout operators between, nearest to the source first
};
WeightPath weightPath(const GraphEdit& edit, ValueRef argument);

/// Makes the argument `name` of `node` read `replacement` instead of `path.source`, through the
/// same layout operators; those with other readers are copied.
void rerouteWeight(GraphEdit& edit, NodeId node, std::string_view name, const WeightPath& path,
                   ValueRef replacement);

} // namespace qs
