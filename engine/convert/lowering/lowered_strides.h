// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Quantized kernels give images channels last whatever they are given, where float operators keep
/// their order. So that what stays float among them still computes what it did: `view` becomes
/// `reshape`, which copies where strides allow no view; and in a graph with an operator that reads
/// strides, what leaves kernels lies as it did there: contiguous, permuted after. Returns the
/// values that are read in another's place since, by what was read before.
std::unordered_map<ValueRef, ValueRef> restoreStrides(GraphEdit& edit);

} // namespace qs
