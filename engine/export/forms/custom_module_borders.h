// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The reference form as torch.ao writes it: a quantized custom module takes quantized values, so
/// the dequantize before it is absorbed, and gives quantized ones, so the quantize after it is.
/// For showing: the values around the module are quantized then, which its body does not expect.
Graph absorbCustomModuleBorders(const Graph& reference);

} // namespace qs
