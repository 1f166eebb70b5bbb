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

/// Rewrites every `torch.nn.MultiheadAttention` to the form of torch.ao's quantizable class: its
/// packed projections become three linear layers, `linear_Q`, `linear_K` and `linear_V`, and its
/// `out_proj` another one, so that rules and patterns apply to separate layers. The operators
/// between them, two products and the softmax, stay float, as in torch.ao. Results are unchanged. A
/// module of another structure is unchanged, with a log line. Returns the graph itself if there are
/// no such modules.
Result<GraphPtr> makeAttentionQuantizable(GraphPtr graph);

} // namespace qs
