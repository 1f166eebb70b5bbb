// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/recipe.h"

namespace qs {

/// A recipe's `prepare` and `convert` blocks as torch.ao spells them, read once for all of
/// planning. A value.
struct PrepareBlock
{
    Json prepare, convert; ///< objects
};

/// Errors: a block that is not a JSON object (of a recipe made by hand).
Result<PrepareBlock> readPrepareBlock(const Recipe& recipe);

} // namespace qs
