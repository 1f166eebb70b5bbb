// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Holds what a pack's JSON tells against what its libraries registered with LibTorch and against
/// PyTorch's names: operators, their arguments, kernels, patterns. The pack's operators are known
/// (`addLoadedPack`). Errors (BadInput) name the nearest thing there is.
Result<void> checkPack(const ExtensionPack& pack);

} // namespace qs
