// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/graph/graph_edit.h"

namespace qs {

/// A match of a row without a quantized result: the operators that it replaces, in forward order.
struct FloatKernelMatch
{
    KernelRow row;
    std::vector<NodeId> chain;
    NodeId origin; ///< the float node the kernel replaces
    bool reduceRange = false; ///< dynamic activations leave one bit free
};

/// Inserts a kernel that takes and returns float tensors (dynamic, half precision or weight-only)
/// before the last operator of the chain, with its prepacked weights, and returns its node.
/// Dynamically quantized inputs are read before their quantize-dequantize pair, because the kernel
/// quantizes itself. Arguments follow the kernel's schema. Errors (Unsupported) say why the kernel
/// cannot be used here; the draft is then unchanged except for unused nodes.
Result<NodeId> emitFloatKernel(GraphEdit& edit, const FloatKernelMatch& match);

/// The value before a pair that chooses its parameters at run time, or that goes through float16;
/// invalid if `value` is not such a pair's result.
ValueRef beforeDynamicPair(const GraphEdit& edit, ValueRef value);
ValueRef beforeHalfPair(const GraphEdit& edit, ValueRef value);

} // namespace qs
