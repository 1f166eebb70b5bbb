// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/lowering/emit/emit_kernel.h"

namespace qs {

/// The arguments of an extension pack's kernel for a match, as the row states them. Inserts the
/// pack's packing operator for the weight before the quantize node. Errors (Unsupported) name the
/// missing part.
Result<std::vector<NamedArgument>> packArguments(GraphEdit& edit, const KernelMatch& match);

} // namespace qs
