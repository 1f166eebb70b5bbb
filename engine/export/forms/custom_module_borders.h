// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The reference form as torch.ao prints it: a quantized custom module takes and returns quantized
/// values, so the dequantize steps before it and the quantize steps after it are removed. For
/// display only: the module's body still expects float values.
Graph absorbCustomModuleBorders(const Graph& reference);

} // namespace qs
