// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_name.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qs {

/// Operators that simulate quantization in training; their first result is their first argument,
/// rounded.
inline bool isFakeQuantizer(std::string_view target)
{
    static constexpr std::array<std::string_view, 10> kWords {
        "aten.fused_moving_avg_obs_fake_quant",
        "aten._fused_moving_avg_obs_fq_helper",
        "aten._fused_moving_avg_obs_fq_helper_functional",
        "aten.fake_quantize_per_tensor_affine",
        "aten.fake_quantize_per_tensor_affine_cachemask",
        "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
        "aten.fake_quantize_per_channel_affine",
        "aten.fake_quantize_per_channel_affine_cachemask",
        "aten._fake_quantize_learnable_per_tensor_affine",
        "aten._fake_quantize_learnable_per_channel_affine",
    };
    return std::find(kWords.begin(), kWords.end(), operatorPacket(target)) != kWords.end();
}

/// Operators that scale a layer's weight to simulate batch norm folding.
inline constexpr std::string_view kDivideTarget = "aten.div.Tensor";
inline constexpr std::string_view kMultiplyTarget = "aten.mul.Tensor";
inline constexpr std::string_view kAddTarget = "aten.add.Tensor";
inline constexpr std::string_view kAddNumberTarget = "aten.add.Scalar";
inline constexpr std::string_view kSqrtTarget = "aten.sqrt.default";
inline constexpr std::string_view kRsqrtTarget = "aten.rsqrt.default";
inline constexpr std::string_view kReciprocalTarget = "aten.reciprocal.default";
inline bool isReshape(std::string_view target)
{
    return target == "aten.reshape.default" || target == "aten.view.default";
}
inline bool makesZeros(std::string_view target)
{
    return target.starts_with("aten.zeros");
}
} // namespace qs
