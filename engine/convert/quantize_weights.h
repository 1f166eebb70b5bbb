// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/qparams.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/graph/graph_edit.h"

#include <optional>

namespace qs {

/// Where integers saturate. The scale always follows from the observer's quant_min and quant_max.
enum class Saturation : std::uint8_t
{
    Storage, ///< at the limits of their type, as in torch.ao's convert_to_reference_fx and in
             ///< LibTorch's kernels
    Observer ///< at quant_min and quant_max, as in PT2E's convert
};

/// Where a pair is inserted.
struct QdqPlace
{
    NodeId before; ///< the node before which the pair is inserted
    NodeId origin; ///< the float node whose value this is
    NodeId first = {}; ///< `firstOperator(edit)` if the caller knows it
};

/// Inserts quantize and dequantize of `value`; returns the dequantized value. Per channel, scales
/// and zero points become constants of the store; for a weight in groups they have the shape [rows,
/// groups], and the integers saturate at the observer's range for either `saturation`.
Result<ValueRef> insertQdqPair(GraphEdit& edit, ValueRef value, const QParams& qparams,
                               const QdqPlace& place, Saturation saturation);

/// The first node that is neither input nor stored: constants stand before it, with the parameters.
/// Walks over the graph.
NodeId firstOperator(const GraphEdit& edit);

/// Inserts `to(float16)` and `to(float32)` of `value` before the node `before`, as torch.ao spells
/// half precision; returns the float32 value.
ValueRef insertHalfPair(GraphEdit& edit, ValueRef value, NodeId before, NodeId origin);

/// A weight whose rows have real zero points (torch.ao's per_channel_affine_float_qparams), as
/// `insertQdqPair` writes it. LibTorch has no quantize operator for it that an export could hold,
/// so elementwise operators compute the integers, and `dequantize_per_channel` dequantizes them.
struct FloatZeroPointWeight
{
    ValueRef source; ///< the float weight
    ValueRef scales, zeroPoints; ///< float32 vectors
    int axis = 0;
    DType dtype = DType::QUInt8; ///< or QUInt4x2, by the range
};
/// The parts of the value, if it is such a dequantized weight.
std::optional<FloatZeroPointWeight> floatZeroPointWeight(const GraphEdit& edit, ValueRef value);

} // namespace qs
