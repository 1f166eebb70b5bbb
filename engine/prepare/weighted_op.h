// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/operators.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// How an operator with a trained weight is spelled: the names of its arguments.
struct WeightedOp
{
    using Kind = OperatorFacts::Weighted;
    Kind kind = Kind::Linear;
    std::string input, weight, bias; ///< argument names; bias "" = the operator has none
};

/// The spelling of `node`, if it is a convolution, a linear or an embedding in any of ATen's
/// spellings, or an operator of an extension pack that has a weight.
std::optional<WeightedOp> weightedOp(const Node& node);

/// Position of the argument of that name in `node.args`, or -1.
int argumentIndex(const Node& node, std::string_view name);
/// The value an argument refers to; none where it is absent, None or a constant.
ValueRef argumentRef(const Node& node, std::string_view name);

/// The source of a weight argument: core ATen passes a linear's weight through `permute` or
/// `t`.
struct WeightPath
{
    ValueRef source; ///< the first value that is not only a change of layout
    std::vector<NodeId> layout; ///< the layout operators between, nearest to the source first
};
WeightPath weightPath(const GraphEdit& edit, ValueRef argument);

/// Lets `node`'s argument `name` read `replacement` in place of `path.source`, through the same
/// layout operators, which are copied where others read them too.
void rerouteWeight(GraphEdit& edit, NodeId node, std::string_view name, const WeightPath& path,
                   ValueRef replacement);

} // namespace qs
