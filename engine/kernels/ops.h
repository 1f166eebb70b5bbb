// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/error_stats.h"
#include "engine/kernels/histogram.h"
#include "engine/kernels/min_max.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace qs {

// The kernels as functions of tensors, on the tensor's device. They call the dispatcher's
// `quantscope::*` operators: the engine registers the CPU key, the plug-in the CUDA key. Tensors
// must be float32, with any strides. Functions throw LibTorch's exceptions (call under guardTorch).

/// Returns the extremes of the finite values and the number of NaN and Inf.
kernels::MinMax tensorMinMax(const at::Tensor& x);

/// The same for every index along `axis` (may be negative).
std::vector<kernels::MinMax> tensorMinMaxChannels(const at::Tensor& x, std::int64_t axis);

/// Result of one observation of a tensor, given an earlier range.
struct Observed
{
    kernels::MinMax batch; ///< result for this tensor only
    float low = 0; ///< the known range extended by this tensor
    float high = 0;
    std::vector<std::uint64_t> counts; ///< over histogramEdges(low, high)
};
/// Extends [low, high] (+Inf, -Inf = empty) by the tensor's finite values and counts them in `bins`
/// equal bins over the extended range.
Observed tensorObserve(const at::Tensor& x, float low, float high, std::int32_t bins);

/// The same in asynchronous steps; only the copy for `observationFrom` waits for the device. A
/// range is a small tensor on the observed tensor's device.
at::Tensor rangeOn(at::Device device, float low, float high);
/// Queues an observation; returns the input of `grownRange` and `observationFrom`.
at::Tensor queueObservation(const at::Tensor& x, const at::Tensor& known, std::int32_t bins);
/// Returns the range after a queued observation, for the next one.
at::Tensor grownRange(const at::Tensor& observation);
/// Returns the result of an observation, from its copy on the host.
Observed observationFrom(const at::Tensor& observation);

/// Returns the counts of the values within [edges.low, edges.high].
std::vector<std::uint64_t> tensorHistogram(const at::Tensor& x, kernels::HistogramEdges edges,
                                           std::int32_t bins);

/// Returns the error sums of two tensors of equal shape and device.
kernels::ErrorSums tensorErrorSums(const at::Tensor& signal, const at::Tensor& other);

/// Quantizes and dequantizes per tensor, as `quantized_decomposed`; quantMin and quantMax must fit
/// 24 bits.
at::Tensor tensorFakeQuant(const at::Tensor& x, double scale, std::int64_t zeroPoint,
                           std::int64_t quantMin, std::int64_t quantMax);

} // namespace qs
