// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Loads a pack's TorchScript file and registers its methods as operators until the process ends.
/// Their schemas are those of the methods. They run on their arguments' device, including the meta
/// device, and on quantized tensors. Fails (BadInput, names the file) with LibTorch's error, for a
/// missing method, or if an operator already exists.
Result<void> loadScript(const PackScript& script);

} // namespace qs
