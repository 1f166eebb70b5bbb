// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// How far a pack's kernel is from the module's reference form, in steps of its result; of a float
/// result in steps of an eight-bit grid over the values' range. A dynamic kernel quantizes what it
/// reads, which the reference form does not show: it is held to the reference form of its inputs as
/// they are, or quantized over eight bits or seven, whichever comes closest. May throw c10::Error.
Result<double> packDifference(const ModuleRun& run, bool isDynamic);

} // namespace qs
