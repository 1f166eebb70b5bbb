// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// Loads a pack's TorchScript file and registers its methods as operators, for as long as the
/// process lives. Their schemas are the methods' own; they run wherever their arguments are, on the
/// meta device and quantized tensors too. Errors (BadInput) name the file: LibTorch's error, a
/// method that it lacks, an operator that already exists.
Result<void> loadScript(const PackScript& script);

} // namespace qs
