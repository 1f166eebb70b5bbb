// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Quantized kernels give images channels last whatever they are given, where float operators keep
/// their order. So that float operators among them still compute the same: `view` becomes
/// `reshape`, which copies where strides allow no view; and in a graph with an operator that reads
/// strides, results of kernels get their old layout: contiguous, permuted after. Returns the
/// replacements of values, by the value that was read before.
std::unordered_map<ValueRef, ValueRef> restoreStrides(GraphEdit& edit);

} // namespace qs
