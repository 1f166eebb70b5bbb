// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Checks a pack's JSON against the operators that its libraries registered with LibTorch and
/// against PyTorch's names: operators, their arguments, kernels, patterns. Requires `addLoadedPack`
/// for the pack. Errors (BadInput) give the nearest known name.
Result<void> checkPack(const ExtensionPack& pack);

} // namespace qs
