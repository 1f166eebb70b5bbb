// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs::ops {

// Schemas of the kernels' operators. Integer results contain the bytes of the kernels' structs:
// MinMaxKeys is two int64, ErrorSums six.
inline constexpr const char* kMinMax = "min_max(Tensor x) -> Tensor";
inline constexpr const char* kMinMaxChannels = "min_max_channels(Tensor x, int axis) -> Tensor";
inline constexpr const char* kHistogram
    = "histogram(Tensor x, float low, float high, int bins) -> Tensor";
/// `known`: one MinMaxKeys on the device of `x`. Returns two MinMaxKeys (of the tensor, and of the
/// known range extended by it), then the counts over the extended range.
inline constexpr const char* kObserve
    = "min_max_histogram(Tensor x, Tensor known, int bins) -> Tensor";
inline constexpr const char* kErrorSums = "error_sums(Tensor signal, Tensor other) -> Tensor";
inline constexpr const char* kFakeQuant
    = "fake_quant(Tensor x, float scale, int zero_point, int quant_min, int quant_max) -> Tensor";

/// Number of int64 entries of kObserve's result before the counts.
inline constexpr int kObserveHeader = 4;

} // namespace qs::ops
