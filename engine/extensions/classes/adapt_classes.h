// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// For each class that the pack adapts, once its libraries are loaded: registers its methods as
/// operators, and for every operator that takes or gives objects of the class one that does so by
/// parts (engine/graph/operators/class_parts.h). They stay as long as the process lives. Errors
/// (BadInput) name the class: it does not exist, or its methods do not fit.
Result<void> adaptClasses(const ExtensionPack& pack);

} // namespace qs
