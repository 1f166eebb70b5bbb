// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/error_stats.h"
#include "engine/kernels/histogram.h"
#include "engine/kernels/min_max.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace qs {

// The kernels as functions of tensors, on the device where the tensor lives. They go through the
// dispatcher's `quantscope::*` operators: the engine registers the CPU key, the plug-in the CUDA
// key. Tensors must be float32; any strides. They throw what LibTorch throws (call under
// guardTorch).

/// Extremes of the finite values and the number of NaN and Inf.
kernels::MinMax tensorMinMax(const at::Tensor& x);

/// The same for every index along `axis` (may be negative).
std::vector<kernels::MinMax> tensorMinMaxChannels(const at::Tensor& x, std::int64_t axis);

/// Result of one observation of a tensor, given an earlier range.
struct Observed
{
    kernels::MinMax batch; ///< this tensor alone
    float low = 0; ///< the known range grown by this tensor
    float high = 0;
    std::vector<std::uint64_t> counts; ///< over histogramEdges(low, high)
};
/// Grows [low, high] (+Inf, -Inf = nothing known) by the tensor's finite values and counts them
/// into `bins` equal bins over the grown range.
Observed tensorObserve(const at::Tensor& x, float low, float high, std::int32_t bins);

/// The same in steps, of which only `observationFrom` waits for the device. A range is a small
/// tensor on the device of the observed one.
at::Tensor rangeOn(at::Device device, float low, float high);
/// Queues an observation; returns what `grownRange` and `observationFrom` read.
at::Tensor queueObservation(const at::Tensor& x, const at::Tensor& known, std::int32_t bins);
/// The range after a queued observation, for the next one.
at::Tensor grownRange(const at::Tensor& observation);
/// The result of an observation, from its copy on the host.
Observed observationFrom(const at::Tensor& observation);

/// Counts of the values within [edges.low, edges.high].
std::vector<std::uint64_t> tensorHistogram(const at::Tensor& x, kernels::HistogramEdges edges,
                                           std::int32_t bins);

/// Streaming error sums of two tensors of one shape and device.
kernels::ErrorSums tensorErrorSums(const at::Tensor& signal, const at::Tensor& other);

/// Quantize, then dequantize, per tensor, as `quantized_decomposed` does; quantMin and quantMax
/// within 24 bits.
at::Tensor tensorFakeQuant(const at::Tensor& x, double scale, std::int64_t zeroPoint,
                           std::int64_t quantMin, std::int64_t quantMax);

} // namespace qs
