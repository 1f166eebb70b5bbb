// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/edit/cures/locate_cures.h"
#include "engine/plan/cures/layer_numbers.h"
#include "engine/plan/plan.h"

#include <string>
#include <vector>

namespace qs {

/// A rule that a cure adds.
struct CureRule
{
    Rule rule;
    std::size_t cure = 0; ///< index into `Recipe::cures`
};

/// The effect of a recipe's cures on planning. A value.
struct CureExpansion
{
    /// The recipe without cures. Their rules take precedence over those of its mapping; rules on an
    /// edge that a cure decides are removed.
    Recipe recipe;
    std::vector<CureRule> rules; ///< in order; the last one for a node or edge decides
    /// Cures that do not fit the model, one line each; they are left out.
    std::vector<std::string> problems;
    std::vector<CurePlace> places {}; ///< of the cures that are not off
    std::vector<LayerNumbers> numbers {}; ///< for the converted forms, one entry a layer

    /// The operators that a cure names; for Bound the holder of the number. Empty if the cure is
    /// off or does not fit.
    std::vector<NodeId> nodesOf(std::size_t cure) const;

    /// Index of the cure that added a rule of `recipe`; -1 for a rule of the
    /// mapping.
    int cureOf(const Rule& rule) const;
};

/// Translates the cures into rules, each for all members of a fusion:
/// - Float: null for the nodes;
/// - Dynamic: the cure's qconfig;
/// - FloatResult: the node's qconfig with a float result;
/// - Range: the node's qconfig with another activation observer, or edge rules for the readers that
///   the cure names;
/// - Split: a float result of the linear, and null for the added nodes.
/// Round and Bias add no rules: their numbers are for the converted forms; a later one replaces
/// what an earlier one gave to the same layer, except that shifts of biases add up.
///
/// `uncured`: the plan of the recipe without cures. `places`: of `recipe.cures` in that graph
/// (`locateCures`). Reads the files of Round and Bias; else pure.
CureExpansion expandCures(const Graph& graph, const Plan& uncured, const Recipe& recipe,
                          const std::vector<CurePlace>& places, const OperatorNames& names);

} // namespace qs
