// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// Returns the difference of a pack's kernel from the module's reference form, in quantization
/// steps of its result; for a float result in steps of an eight-bit grid over the values' range. A
/// dynamic kernel quantizes its inputs, which the reference form does not: it is compared with the
/// reference form on unquantized, eight-bit and seven-bit inputs, and the smallest difference
/// counts. May throw c10::Error.
Result<double> packDifference(const ModuleRun& run, bool isDynamic);

} // namespace qs
