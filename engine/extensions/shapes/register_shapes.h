// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Registers a meta kernel for each operator whose results' shapes the pack gives, so that LibTorch
/// can infer them. Its libraries are loaded. Errors (BadInput) name the operator and the key: an
/// argument or a size operator that does not exist, another number of results, an operator that has
/// a meta kernel already.
Result<void> registerShapes(const ExtensionPack& pack);

} // namespace qs
