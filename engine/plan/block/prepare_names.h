// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

namespace qs {

/// Refuses (BadInput) a map that converts a pack's custom module in a mode that the pack does not
/// have: torch.ao says so only after calibration.
Result<void> checkCustomModuleModes(const ConvertConfig& convert);

/// Warns of modules and classes that the recipe's `prepare` and `convert` blocks name and the model
/// does not have, with the nearest one, and of keys without effect. A recipe may serve several
/// models, so it is not an error; torch.ao does not report it.
void warnOfPrepareNames(const Graph& graph, const Recipe& recipe,
                        std::vector<std::string>& warnings);

} // namespace qs
