// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

/// Operators of the model that preparation replaces.
struct Replacement
{
    std::vector<NodeId> members; ///< forward order
    /// The module that a fusion or a custom module becomes, "torch.ao.nn.intrinsic.ConvReLU2d"; ""
    /// if the operator is only observed.
    std::string prepared;
    std::string reference; ///< the module of its weight's quantized form; "" without a weight
    bool isQuantized = false; ///< false: fused and float
    bool isKept = false; ///< the user's rules keep the operators unchanged
    friend bool operator==(const Replacement&, const Replacement&) = default;
};

/// The plan's replacements, and those that the recipe prevents by `keepAsItIs`, in graph order.
std::vector<Replacement> replacementsOf(const Graph& graph, const Recipe& recipe, const Plan& plan);

/// Keeps every operator of the replacement float by a node rule, unfused. Pure.
Recipe keepAsItIs(Recipe recipe, const Graph& graph, const Replacement& replacement);
/// Removes the rules that `keepAsItIs` adds. Pure.
Recipe replaceAgain(Recipe recipe, const Graph& graph, const Replacement& replacement);

} // namespace qs
