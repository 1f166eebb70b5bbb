// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operators.h"

namespace qs {

/// Steps of the reference form: `quantized_decomposed` operators, from float to integer values in
/// plain tensors and back. Their parameters are numbers, vectors (per channel or group), or tensors
/// computed at run time.
inline constexpr std::string_view kReferenceForm = "quantized_decomposed.";
inline constexpr std::string_view kQuantizePerTensor
    = "quantized_decomposed.quantize_per_tensor.default";
inline constexpr std::string_view kDequantizePerTensor
    = "quantized_decomposed.dequantize_per_tensor.default";
inline constexpr std::string_view kDequantizePerChannel
    = "quantized_decomposed.dequantize_per_channel.default";
inline constexpr std::string_view kDequantizePerGroup
    = "quantized_decomposed.dequantize_per_channel_group.default";
inline constexpr std::string_view kQuantizeOfMoment
    = "quantized_decomposed.quantize_per_tensor.tensor";
inline constexpr std::string_view kDequantizeOfMoment
    = "quantized_decomposed.dequantize_per_tensor.tensor";
inline constexpr std::string_view kChooseQParams = "quantized_decomposed.choose_qparams.tensor";
inline constexpr std::string_view kChooseSymmetric
    = "quantized_decomposed.choose_qparams_symmetric.tensor";

/// Steps of the lowered form: from float to quantized tensors, which store their parameters, and
/// back.
inline constexpr std::string_view kQuantizeTensor = "aten.quantize_per_tensor.default";
inline constexpr std::string_view kDequantizeTensor = "aten.dequantize.self";

inline bool isReferenceStep(std::string_view target)
{
    return target.starts_with(kReferenceForm);
}

/// True for a quantize step of the reference form.
inline bool isQuantizeStep(std::string_view target)
{
    return target.starts_with("quantized_decomposed.quantize_");
}
inline bool isDequantizeStep(std::string_view target)
{
    return target.starts_with("quantized_decomposed.dequantize_");
}
inline bool isChooseStep(std::string_view target)
{
    return target.starts_with("quantized_decomposed.choose_qparams");
}

/// Returns the dequantize step of the same granularity: "..dequantize_per_channel.default" for
/// "..quantize_per_channel.default".
inline std::string dequantizeTargetOf(std::string_view quantize)
{
    return std::string(kReferenceForm) + "de" + std::string(quantize.substr(kReferenceForm.size()));
}

/// True for a quantize step of the lowered form.
inline bool isTensorQuantize(std::string_view target)
{
    return target.starts_with("aten.quantize_per_");
}
inline bool isTensorDequantize(std::string_view target)
{
    return target.starts_with("aten.dequantize.");
}

/// An operator of torch.ao's converted forms: of the reference form, or a kernel on integers,
/// LibTorch's or an extension pack's.
inline bool isQuantizedTarget(std::string_view target)
{
    return isReferenceStep(target) || isKernelTarget(target);
}

} // namespace qs
