// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Converts a step of the reference form with fixed parameters, which works on plain integers, to a
/// step on quantized tensors; does not change any other node. Returns true if the node is now a
/// quantize step with one scale. Call in graph order.
bool useQuantizedTensor(GraphEdit& edit, NodeId id);

/// Makes a node that reads a shape read it from the quantized tensor, without dequantizing.
void readShapeBeforeDequantize(GraphEdit& edit, NodeId id);

} // namespace qs
