// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// For each class that the pack adapts: registers its methods as operators, and for every operator
/// that takes or returns objects of the class an overload on parts
/// (engine/graph/operators/class_parts.h). The pack's libraries must be loaded. Registrations last
/// until the process ends. Fails (BadInput, names the class) if it does not exist or its methods do
/// not match.
Result<void> adaptClasses(const ExtensionPack& pack);

} // namespace qs
