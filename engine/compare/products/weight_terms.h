// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// One summand of a weight: `integers[c] * scales[c]` for every output channel c.
struct WeightTerm
{
    at::Tensor integers; ///< int8 [out, ...]
    at::Tensor scales; ///< float [out], positive
};

/// A float weight [out, ...] as a sum of terms of eight bits: its own symmetric quantization by
/// channel, and what that leaves behind quantized in the same way. One term where nothing is left,
/// else two; what two leave is at most 1/64,516 (a quarter of 1/127^2) of the channel's largest
/// value. Empty when the weight holds NaN, infinities or nothing. Works in blocks
/// of channels: beside the terms it takes some forty megabytes, or six rows in double.
std::vector<WeightTerm> splitWeight(const at::Tensor& weight);

} // namespace qs
