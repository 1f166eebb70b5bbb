// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/plan/block/prepare_block.h"

namespace qs {

/// Refuses (BadInput) a map that converts a pack's custom module in a mode that the pack does not
/// have: torch.ao says so only after calibration.
Result<void> checkCustomModuleModes(const PrepareBlock& block);

/// Warns of modules and classes that the recipe's `prepare` and `convert` blocks name and the model
/// does not have, with the nearest one, and of keys without effect. A recipe may serve several
/// models, so it is not an error; torch.ao does not report it.
void warnOfPrepareNames(const Graph& graph, const PrepareBlock& block,
                        std::vector<std::string>& warnings);

} // namespace qs
