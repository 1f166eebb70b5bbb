// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Makes float operators compute the same between kernels. Quantized kernels always return images
/// in channels-last layout, while float operators keep the layout. Replaces `view` by `reshape`,
/// which copies if strides do not allow a view. In a graph with an operator that reads strides,
/// restores the layout of kernels' results: contiguous, then permuted. Returns the replacements of
/// values, by the value that was read before.
std::unordered_map<ValueRef, ValueRef> restoreStrides(GraphEdit& edit);

} // namespace qs
