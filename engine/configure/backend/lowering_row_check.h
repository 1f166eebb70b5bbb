// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Refuses (BadInput) an added row without pattern or kernel, or with a name that PyTorch does not
/// have; the hint is the nearest one.
Result<void> checkAddedRow(const LoweringRow& added);

/// Why a removal found no row, with the nearest name or pattern. One line.
std::string removalWarning(const LoweringRow& removal);

/// True for a kernel's own name, false for a class that names it.
bool isKernelName(const std::string& to);

} // namespace qs
