// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_step.h"
#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// Whether it is float16 or bfloat16.
bool isHalfPrecision(DType dtype);

/// Whether an input or a stored tensor is float16 or bfloat16, which no pattern quantizes.
bool holdsHalfPrecision(const Graph& graph);

/// The edits with `AsFloat32` before all others; as they are where they have it.
std::vector<EditStep> withFloat32(std::vector<EditStep> edits);

} // namespace qs
