// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Turns a step of the reference form with fixed parameters, integers with parameters beside them,
/// into one on quantized tensors; leaves any other node as it is. Returns true where it now
/// quantizes a whole tensor with one scale. Call in graph order.
bool useQuantizedTensor(GraphEdit& edit, NodeId id);

/// A shape is that of the quantized tensor: it is read without dequantizing.
void readShapeBeforeDequantize(GraphEdit& edit, NodeId id);

} // namespace qs
