// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/edit/cures/locate_cures.h"
#include "engine/plan/plan.h"

#include <string>
#include <vector>

namespace qs {

/// A rule that a cure stands for.
struct CureRule
{
    Rule rule;
    std::size_t cure = 0; ///< index into `Recipe::cures`
};

/// What the cures of a recipe are to its planning. A value.
struct CureExpansion
{
    /// The recipe without cures, their rules above those of its mapping. A rule on an edge that a
    /// cure decides is gone.
    Recipe recipe;
    std::vector<CureRule> rules; ///< in order; of two about one node or edge the later decides
    /// Cures that do not fit the model, one line each; they are left out.
    std::vector<std::string> problems;
    std::vector<CurePlace> places {}; ///< of the cures that are not off

    /// The operators that a cure names, of Bound what holds the number; none where it is off
    /// or does not fit.
    std::vector<NodeId> nodesOf(std::size_t cure) const;

    /// Index of the cure that gave the rule, which decides in a plan of `recipe`; -1 where the
    /// mapping did.
    int cureOf(const Rule& rule) const;
};

/// Translates the cures into rules: Float into null for the nodes, Dynamic into the qconfig,
/// FloatResult into the node's qconfig with a float result, Range into the node's qconfig with
/// another activation observer, or into edge rules for the readers that it names, Split into a
/// float result of the linear and null for what it added. A rule reaches all members of a fusion.
/// `uncured`: the plan of the recipe without cures. `places`: of `recipe.cures` in that graph
/// (`locateCures`). Pure.
CureExpansion expandCures(const Graph& graph, const Plan& uncured, const Recipe& recipe,
                          const std::vector<CurePlace>& places, const OperatorNames& names);

} // namespace qs
