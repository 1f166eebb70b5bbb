// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_step.h"
#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// True for float16 and bfloat16.
bool isHalfPrecision(DType dtype);

/// True if an input or a stored tensor is float16 or bfloat16, which no pattern quantizes.
bool holdsHalfPrecision(const Graph& graph);

/// Returns the edits with `AsFloat32` prepended, unless they contain it.
std::vector<EditStep> withFloat32(std::vector<EditStep> edits);

} // namespace qs
