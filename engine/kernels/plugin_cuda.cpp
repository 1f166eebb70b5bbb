// SPDX-License-Identifier: Apache-2.0
// The plug-in `quantscope_cuda`: registers the CUDA key of the kernels' operators. The engine,
// already loaded, has defined the schemas.
#include "engine/kernels/error_stats.h"
#include "engine/kernels/fake_quant.h"
#include "engine/kernels/histogram.h"
#include "engine/kernels/min_max.h"
#include "engine/kernels/ops_schema.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace qs {

namespace {

using kernels::MinMax;
using kernels::MinMaxKeys;

kernels::Stream currentStream()
{
    return c10::cuda::getCurrentCUDAStream().stream();
}

at::Tensor dense(const at::Tensor& x)
{
    TORCH_CHECK(x.scalar_type() == at::kFloat, "quantscope kernels take float32, not ",
                x.scalar_type());
    return x.is_non_overlapping_and_dense() ? x : x.contiguous();
}

at::Tensor words(const at::Tensor& like, std::int64_t count)
{
    return at::zeros({count}, like.options().dtype(at::kLong));
}

MinMaxKeys* asKeys(const at::Tensor& raw)
{
    return reinterpret_cast<MinMaxKeys*>(raw.data_ptr<std::int64_t>());
}

at::Tensor minMaxOp(const at::Tensor& x)
{
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor data = dense(x);
    at::Tensor out = words(x, 2);
    kernels::minMaxCuda(data.const_data_ptr<float>(), data.numel(), MinMax {}, asKeys(out),
                        currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

at::Tensor minMaxChannelsOp(const at::Tensor& x, std::int64_t axis)
{
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor data = dense(x).contiguous();
    const std::int64_t at = axis < 0 ? axis + x.dim() : axis;
    TORCH_CHECK(at >= 0 && at < x.dim(), "channel axis ", axis, " of a tensor of rank ", x.dim());
    kernels::ChannelShape shape;
    for (std::int64_t i = 0; i < x.dim(); ++i)
        (i < at ? shape.outer : i == at ? shape.channels : shape.inner) *= x.size(i);
    at::Tensor out = words(x, 2 * shape.channels);
    kernels::minMaxChannelsCuda(data.const_data_ptr<float>(), shape, asKeys(out), currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

at::Tensor histogramOp(const at::Tensor& x, double low, double high, std::int64_t bins)
{
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor data = dense(x);
    at::Tensor out = words(x, bins);
    kernels::histogramCuda(
        data.const_data_ptr<float>(), data.numel(), {float(low), float(high)}, std::int32_t(bins),
        reinterpret_cast<unsigned long long*>(out.data_ptr<std::int64_t>()), currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

at::Tensor observeOp(const at::Tensor& x, const at::Tensor& known, std::int64_t bins)
{
    TORCH_CHECK(known.device() == x.device(), "the known range is on another device");
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor data = dense(x);
    at::Tensor out = words(x, ops::kObserveHeader + bins);
    kernels::DeviceObservation observation;
    observation.known = reinterpret_cast<const MinMaxKeys*>(known.const_data_ptr<std::int64_t>());
    observation.seen = asKeys(out);
    observation.grown = observation.seen + 1;
    observation.counts
        = reinterpret_cast<unsigned long long*>(out.data_ptr<std::int64_t>()) + ops::kObserveHeader;
    observation.bins = std::int32_t(bins);
    kernels::observeCuda(data.const_data_ptr<float>(), data.numel(), observation, currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

at::Tensor errorSumsOp(const at::Tensor& signal, const at::Tensor& other)
{
    TORCH_CHECK(signal.sizes() == other.sizes(), "error sums of tensors of different shapes");
    const c10::cuda::CUDAGuard guard(signal.device());
    const at::Tensor a = dense(signal).contiguous();
    const at::Tensor b = dense(other).contiguous();
    constexpr std::int64_t kWords = sizeof(kernels::ErrorSums) / 8;
    at::Tensor scratch = words(signal, kernels::kErrorSumsScratch * kWords);
    at::Tensor out = words(signal, kWords);
    kernels::errorSumsCuda(a.const_data_ptr<float>(), b.const_data_ptr<float>(), a.numel(),
                           reinterpret_cast<kernels::ErrorSums*>(scratch.data_ptr<std::int64_t>()),
                           reinterpret_cast<kernels::ErrorSums*>(out.data_ptr<std::int64_t>()),
                           currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

at::Tensor fakeQuantOp(const at::Tensor& x, double scale, std::int64_t zeroPoint,
                       std::int64_t quantMin, std::int64_t quantMax)
{
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor data = dense(x);
    at::Tensor out = at::empty_like(data);
    kernels::fakeQuantCuda(data.const_data_ptr<float>(), data.numel(),
                           kernels::makeFakeQuant(scale, zeroPoint, quantMin, quantMax),
                           out.data_ptr<float>(), currentStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

} // namespace

} // namespace qs

TORCH_LIBRARY_IMPL(quantscope, CUDA, m)
{
    m.impl("min_max", qs::minMaxOp);
    m.impl("min_max_channels", qs::minMaxChannelsOp);
    m.impl("histogram", qs::histogramOp);
    m.impl("min_max_histogram", qs::observeOp);
    m.impl("error_sums", qs::errorSumsOp);
    m.impl("fake_quant", qs::fakeQuantOp);
}
