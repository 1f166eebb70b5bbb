// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_text.h"
#include "engine/edit/addresses.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// The place of a cure in a model. A value type.
struct CurePlace
{
    std::size_t cure = 0; ///< index into the given cures
    std::string problem; ///< why it does not fit this model; empty if it fits
    ValueRef at; ///< the value, or the operator with its output
    std::vector<NodeId> nodes; ///< Float, Split: `at` and the further operators
    std::vector<NodeId> added {}; ///< operators that the cure added to the model
    std::vector<Use> readers; ///< Range: the listed consumers of `at`
};

/// Resolves the cures in the edited model; ignores disabled ones. `addresses`: those of the edited
/// model (`EditedModel::addresses`). Pure.
std::vector<CurePlace> locateCures(const GraphPtr& model, const Addresses& addresses,
                                   std::span<const Cure> cures);

/// Returns a function that quotes operator names for messages: 'conv2d_1'. Borrows both.
OperatorNames quotedNames(const Graph& model, const Addresses& addresses);

/// Returns one line about a skipped cure: the cure "keep 'conv2d_1' float" does not fit this model
/// ...
std::string unfitCureLine(const std::string& cure, const std::string& why);

} // namespace qs
