// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// How far a pack's kernel is from the module's reference form, in steps of its result; of a float
/// result in steps of an eight-bit grid over the values' range. A dynamic kernel quantizes its
/// inputs, which the reference form does not: it is compared with the reference form of the inputs
/// as they are or in eight or seven bits, whichever is closest. May throw c10::Error.
Result<double> packDifference(const ModuleRun& run, bool isDynamic);

} // namespace qs
