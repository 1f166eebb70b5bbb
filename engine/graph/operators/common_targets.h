// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// Operators that several stages create or search for.
inline constexpr std::string_view kCastTarget = "aten.to.dtype";
inline constexpr std::string_view kCloneTarget = "aten.clone.default";
inline constexpr std::string_view kConv2dTarget = "aten.conv2d.default";
inline constexpr std::string_view kLinearTarget = "aten.linear.default";
inline constexpr std::string_view kAddmmTarget = "aten.addmm.default";
inline constexpr std::string_view kReshapeTarget = "aten.reshape.default";
inline constexpr std::string_view kViewTarget = "aten.view.default";
inline constexpr std::string_view kTransposeTarget = "aten.transpose.int";
inline constexpr std::string_view kPermuteTarget = "aten.permute.default";
inline constexpr std::string_view kContiguousTarget = "aten.contiguous.default";
inline constexpr std::string_view kSelectTarget = "aten.select.int";
inline constexpr std::string_view kChunkTarget = "aten.chunk.default";
inline constexpr std::string_view kCatTarget = "aten.cat.default";
inline constexpr std::string_view kStackTarget = "aten.stack.default";
inline constexpr std::string_view kIndexSelectTarget = "aten.index_select.default";
inline constexpr std::string_view kScalarTensorTarget
    = "aten.scalar_tensor.default"; ///< of a number
inline constexpr std::string_view kLstmTarget = "aten.lstm.input"; ///< of padded sequences
inline constexpr std::string_view kGruTarget = "aten.gru.input";

/// Operators on a tensor's shape: the size of one dimension, all sizes, the number of dimensions,
/// the number of elements.
inline constexpr std::string_view kSizeTarget = "aten.sym_size.int";
inline constexpr std::string_view kSizesTarget = "aten.size.default";
inline constexpr std::string_view kRankTarget = "aten.dim.default";
inline constexpr std::string_view kElementsTarget = "aten.sym_numel.default";

/// TorchScript's branches, loops and containers (`execute/control/script_control.h`).
inline constexpr std::string_view kIfTarget = "prim.If.default";
inline constexpr std::string_view kLoopTarget = "prim.Loop.default";
inline constexpr std::string_view kScriptTupleTarget = "prim.TupleConstruct.default";
inline constexpr std::string_view kScriptListTarget = "prim.ListConstruct.default";
inline constexpr std::string_view kScriptDictTarget = "prim.DictConstruct.default";
inline constexpr std::string_view kScriptUnpackTarget = "prim.Unpack.default";
inline constexpr std::string_view kScriptIndexTarget = "prim.TupleIndex.default";

} // namespace qs
