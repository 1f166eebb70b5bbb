// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <memory>

namespace qs {

inline constexpr const char* kAttentionClass = "torch.nn.MultiheadAttention";
inline constexpr const char* kQuantizableAttentionClass
    = "torch.ao.nn.quantizable.MultiheadAttention";
inline constexpr const char* kQuantizedAttentionClass = "torch.ao.nn.quantized.MultiheadAttention";

/// Writes every `torch.nn.MultiheadAttention` as torch.ao's quantizable one does: its packed
/// projections become three linear layers, `linear_Q`, `linear_K` and `linear_V`, and its
/// `out_proj` one more: separate layers for rules and patterns. The operators between them, the two
/// products and the softmax, stay float, as there. Computes the same. One in another spelling stays
/// as it is, with a line in the log. Returns the graph itself without such modules.
Result<GraphPtr> makeAttentionQuantizable(GraphPtr graph);

} // namespace qs
