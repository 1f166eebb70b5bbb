// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Registers a meta kernel for each operator whose result shapes the pack defines, so that LibTorch
/// can infer them. The pack's libraries must be loaded. Fails (BadInput, names the operator and the
/// key) for an unknown argument or size operator, a wrong number of results, or an operator that
/// already has a meta kernel.
Result<void> registerShapes(const ExtensionPack& pack);

} // namespace qs
