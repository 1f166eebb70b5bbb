// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/graph/graph_edit.h"

namespace qs {

/// A match of a row: the float operators between dequantize and quantize, and their inputs.
struct KernelMatch
{
    KernelRow row;
    std::vector<NodeId> chain; ///< the operators, forward order
    NodeId quantize; ///< the quantize node after them
    std::vector<ValueRef> dequantized; ///< activations as the operators read them, in order
    std::vector<ValueRef> quantized; ///< the same before their dequantize
    double scale = 1; ///< of the result
    std::int64_t zeroPoint = 0;
    bool strays = false; ///< keeps the input's grid, where torch.ao's lowering has float
    NodeId origin; ///< the float node the kernel replaces
};

/// Inserts the kernel (and the prepacking of its weight) before the quantize node and returns its
/// value. Arguments follow the kernel's own schema: tensors take the quantized inputs in order,
/// packed weights are prepacked, `output_scale` and `output_zero_point` come from the quantize
/// node, everything else from the operator's argument of the same name. Errors (Unsupported) say
/// why the kernel cannot be used here; the draft is then unchanged except for unused nodes.
Result<ValueRef> emitKernel(GraphEdit& edit, const KernelMatch& match);

} // namespace qs
