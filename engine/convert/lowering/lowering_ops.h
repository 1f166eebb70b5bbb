// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"

#include <string>
#include <string_view>

namespace qs {

/// The integers of a quantized tensor, without its parameters.
inline constexpr std::string_view kIntegersOfTensor = "aten.int_repr.default";

/// The kind of an operator, whatever its spelling: "conv2d" for `conv2d`, for `conv2d.padding` and
/// for a `convolution` of two dimensions; "linear" for `addmm`; "batch_norm2d" by the rank of its
/// input; "mypack.linear" for an operator of an extension pack.
/// "" if the operator cannot become a quantized one: opaque, training, several live results.
std::string operatorKind(const GraphEdit& edit, const Node& node);

/// True for kernels that choose their result's parameters themselves: sums and products with a
/// number.
bool choosesParams(std::string_view target);

/// True for kernels that read plain integers and give float (`KernelMode::FloatResult`).
bool isFloatResultKernel(std::string_view target);

/// A convolution's integer list (stride, padding, dilation, output_padding), one entry a spatial
/// dimension. "same" padding is turned into numbers if both sides are equal, by the type of the
/// weight. Errors (Unsupported) name the obstacle.
Result<Argument::List> convolutionList(const Node& node, const ValueType& weight,
                                       std::string_view name, std::size_t dimensions);

/// Refuses (BadInput) a row's pattern with a kind of operator that LibTorch does not have; the hint
/// is the nearest one.
Result<void> checkOperatorKinds(const std::vector<std::string>& kinds);

/// The operator as graphs spell it ("quantized.conv2d_relu.new") for a row's kernel, or an error
/// where LibTorch has none.
Result<std::string> kernelTarget(const std::string& kernel);

} // namespace qs
