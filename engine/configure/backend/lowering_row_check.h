// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Fails (BadInput) if an added row lacks a pattern or kernel, or has a name unknown to PyTorch;
/// the hint is the nearest name.
Result<void> checkAddedRow(const LoweringRow& added);

/// Returns one line: why a removal matches no row, with the nearest name or pattern.
std::string removalWarning(const LoweringRow& removal);

/// True for the name of a kernel, false for a class that stands for one.
bool isKernelName(const std::string& to);

} // namespace qs
