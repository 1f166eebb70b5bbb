// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs::ops {

// Schemas of the kernels' operators. Integer results carry the kernels' structs byte by byte:
// MinMaxKeys is two int64, ErrorSums six.
inline constexpr const char* kMinMax = "min_max(Tensor x) -> Tensor";
inline constexpr const char* kMinMaxChannels = "min_max_channels(Tensor x, int axis) -> Tensor";
inline constexpr const char* kHistogram
    = "histogram(Tensor x, float low, float high, int bins) -> Tensor";
/// `known`: one MinMaxKeys on the device of `x`. Gives two MinMaxKeys (the tensor alone, the known
/// range grown by it), then the counts over the grown range.
inline constexpr const char* kObserve
    = "min_max_histogram(Tensor x, Tensor known, int bins) -> Tensor";
inline constexpr const char* kErrorSums = "error_sums(Tensor signal, Tensor other) -> Tensor";
inline constexpr const char* kFakeQuant
    = "fake_quant(Tensor x, float scale, int zero_point, int quant_min, int quant_max) -> Tensor";

/// int64 entries of kObserve before the counts.
inline constexpr int kObserveHeader = 4;

} // namespace qs::ops
