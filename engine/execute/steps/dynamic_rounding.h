// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_choose_qparams_per_tensor.h>
#include <ATen/ops/quantize_per_tensor.h>

namespace qs {

/// The values that LibTorch's dynamic kernels compute with: rounded to a grid of eight bits over
/// their range, of seven with `reduceRange`.
inline at::Tensor roundedDynamically(const at::Tensor& x, bool reduceRange)
{
    const auto [scale, zeroPoint] = at::_choose_qparams_per_tensor(x, reduceRange);
    return at::quantize_per_tensor(x, scale, zeroPoint, at::kQUInt8).dequantize();
}

} // namespace qs
