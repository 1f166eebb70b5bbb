// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"

#include <string>
#include <string_view>

namespace qs {

/// The integers of a quantized tensor, without its parameters.
inline constexpr std::string_view kIntegersOfTensor = "aten.int_repr.default";

/// The kind of an operator, equal for all variants: "conv2d" for `conv2d`, for `conv2d.padding` and
/// for a `convolution` of two dimensions; "linear" for `addmm`; "batch_norm2d" by the rank of its
/// input; "mypack.linear" for an operator of an extension pack. "" if the operator cannot be
/// quantized: it is opaque, in training mode, or has several results that are read.
std::string operatorKind(const GraphEdit& edit, const Node& node);

/// True for kernels that choose their result's parameters themselves: sums and products with a
/// number.
bool choosesParams(std::string_view target);

/// True for kernels that read plain integers and return float (`KernelMode::FloatResult`).
bool isFloatResultKernel(std::string_view target);

/// A convolution's integer list (stride, padding, dilation, output_padding), one entry a spatial
/// dimension. "same" padding is turned into numbers if both sides are equal, by the type of the
/// weight. Errors (Unsupported) name the obstacle.
Result<Argument::List> convolutionList(const Node& node, const ValueType& weight,
                                       std::string_view name, std::size_t dimensions);

/// Refuses (BadInput) a row's pattern with a kind of operator that LibTorch does not have; the hint
/// is the nearest one.
Result<void> checkOperatorKinds(const std::vector<std::string>& kinds);

/// The target in graphs ("quantized.conv2d_relu.new") of a row's kernel. Fails if LibTorch has no
/// such operator.
Result<std::string> kernelTarget(const std::string& kernel);

} // namespace qs
