// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_text.h"
#include "engine/edit/addresses.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// The place of a cure in a model. A value.
struct CurePlace
{
    std::size_t cure = 0; ///< index among the cures that were asked about
    std::string problem; ///< why it does not fit this model; empty where it does
    ValueRef at; ///< the value, or the operator with its output
    std::vector<NodeId> nodes; ///< of Float and Split: `at` and the further operators
    std::vector<NodeId> added {}; ///< operators that the cure itself added to the model
    std::vector<Use> readers; ///< of Range: those that it names, each reads `at`
};

/// Finds what the cures name in the edited model; ignores those that are off. `addresses`: the
/// edited model's (`EditedModel::addresses`). Pure.
std::vector<CurePlace> locateCures(const GraphPtr& model, const Addresses& addresses,
                                   std::span<const Cure> cures);

/// Names of operators as lines on a model quote them: 'conv2d_1'. Borrows both.
OperatorNames quotedNames(const Graph& model, const Addresses& addresses);

/// One line on a cure that is left out: the cure "keep 'conv2d_1' float" does not fit this model
/// ...
std::string unfitCureLine(const std::string& cure, const std::string& why);

} // namespace qs
