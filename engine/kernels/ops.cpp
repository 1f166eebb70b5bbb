// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/ops.h"

#include "engine/kernels/fake_quant.h"
#include "engine/kernels/ops_schema.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

using kernels::MinMax;
using kernels::MinMaxKeys;

MinMaxKeys keysOf(const MinMax& range)
{
    return {kernels::orderedKey(range.min), kernels::orderedKey(range.max),
            static_cast<unsigned long long>(range.nonFinite)};
}

MinMax rangeOf(const MinMaxKeys& keys)
{
    return {kernels::fromOrderedKey(keys.minKey), kernels::fromOrderedKey(keys.maxKey),
            std::int64_t(keys.nonFinite)};
}

/// Number of int64 words of one MinMaxKeys.
constexpr std::int64_t kKeysWords = sizeof(MinMaxKeys) / 8;

at::Tensor rawTensor(const void* data, std::int64_t words)
{
    at::Tensor out = at::empty({words}, at::kLong);
    if (words > 0)
        std::memcpy(out.data_ptr(), data, std::size_t(words) * 8);
    return out;
}

// Returns the tensor's values without gaps in memory, in any order; for kernels that do not depend
// on the order.
at::Tensor dense(const at::Tensor& x)
{
    TORCH_CHECK(x.scalar_type() == at::kFloat, "quantscope kernels take float32, not ",
                x.scalar_type());
    return x.is_non_overlapping_and_dense() ? x : x.contiguous();
}

kernels::ChannelShape channelShape(const at::Tensor& x, std::int64_t axis)
{
    const std::int64_t at = axis < 0 ? axis + x.dim() : axis;
    TORCH_CHECK(at >= 0 && at < x.dim(), "channel axis ", axis, " of a tensor of rank ", x.dim());
    kernels::ChannelShape shape;
    for (std::int64_t i = 0; i < x.dim(); ++i)
        (i < at ? shape.outer : i == at ? shape.channels : shape.inner) *= x.size(i);
    return shape;
}

at::Tensor minMaxOp(const at::Tensor& x)
{
    const at::Tensor data = dense(x);
    const MinMaxKeys keys = keysOf(
        kernels::minMaxCpu(data.const_data_ptr<float>(), data.numel(), at::get_num_threads()));
    return rawTensor(&keys, kKeysWords);
}

at::Tensor minMaxChannelsOp(const at::Tensor& x, std::int64_t axis)
{
    const at::Tensor data = dense(x).contiguous();
    const auto shape = channelShape(data, axis);
    std::vector<MinMax> found(std::size_t(shape.channels), MinMax {});
    kernels::minMaxChannelsCpu(data.const_data_ptr<float>(), shape, found.data(),
                               at::get_num_threads());
    std::vector<MinMaxKeys> keys;
    std::transform(found.begin(), found.end(), std::back_inserter(keys), keysOf);
    return rawTensor(keys.data(), kKeysWords * shape.channels);
}

at::Tensor histogramOp(const at::Tensor& x, double low, double high, std::int64_t bins)
{
    const at::Tensor data = dense(x);
    at::Tensor counts = at::zeros({bins}, at::kLong);
    kernels::histogramCpu(
        data.const_data_ptr<float>(), data.numel(), {float(low), float(high)}, std::int32_t(bins),
        reinterpret_cast<std::uint64_t*>(counts.data_ptr<std::int64_t>()), at::get_num_threads());
    return counts;
}

// One pass over the data if the known range contains all of it, else two.
at::Tensor observeOp(const at::Tensor& x, const at::Tensor& range, std::int64_t bins)
{
    const at::Tensor data = dense(x);
    const float* values = data.const_data_ptr<float>();
    const std::int64_t count = data.numel();
    const int threads = at::get_num_threads();
    at::Tensor out = at::zeros({ops::kObserveHeader + bins}, at::kLong);
    auto* words = out.data_ptr<std::int64_t>();
    auto* counts = reinterpret_cast<std::uint64_t*>(words + ops::kObserveHeader);
    MinMaxKeys before;
    std::memcpy(&before, range.const_data_ptr(), sizeof before);
    MinMax known = rangeOf(before);
    MinMax batch;
    bool counted = false;
    if (known.min < known.max)
        batch = kernels::observeCpu(
            values, count, {{known.min, known.max}, std::int32_t(bins), counts}, threads, &counted);
    else
        batch = kernels::minMaxCpu(values, count, threads);
    merge(known, batch);
    if (!counted && known.min <= known.max) {
        std::fill(counts, counts + bins, 0);
        kernels::histogramCpu(values, count, kernels::histogramEdges(known.min, known.max),
                              std::int32_t(bins), counts, threads);
    }
    const MinMaxKeys header[2] = {keysOf(batch), keysOf(known)};
    std::memcpy(words, header, sizeof header);
    return out;
}

at::Tensor errorSumsOp(const at::Tensor& signal, const at::Tensor& other)
{
    TORCH_CHECK(signal.sizes() == other.sizes(), "error sums of tensors of different shapes");
    const bool alike = signal.strides() == other.strides();
    const at::Tensor a = alike ? dense(signal) : dense(signal).contiguous();
    const at::Tensor b = alike ? dense(other) : dense(other).contiguous();
    const auto sums = kernels::errorSumsCpu(a.const_data_ptr<float>(), b.const_data_ptr<float>(),
                                            a.numel(), at::get_num_threads());
    return rawTensor(&sums, sizeof sums / 8);
}

at::Tensor fakeQuantOp(const at::Tensor& x, double scale, std::int64_t zeroPoint,
                       std::int64_t quantMin, std::int64_t quantMax)
{
    const at::Tensor data = dense(x);
    at::Tensor out = at::empty_like(data);
    kernels::fakeQuantCpu(data.const_data_ptr<float>(), data.numel(),
                          kernels::makeFakeQuant(scale, zeroPoint, quantMin, quantMax),
                          out.data_ptr<float>(), at::get_num_threads());
    return out;
}

template<class Signature, class... Args>
at::Tensor callOp(const char* name, Args&&... args)
{
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>().call(
        std::forward<Args>(args)...);
}

std::vector<MinMaxKeys> keysFrom(const at::Tensor& raw, std::int64_t count)
{
    const at::Tensor host = raw.cpu();
    std::vector<MinMaxKeys> keys(std::size_t(count), MinMaxKeys {});
    if (count > 0)
        std::memcpy(keys.data(), host.data_ptr(), std::size_t(count) * sizeof(MinMaxKeys));
    return keys;
}

std::vector<std::uint64_t> countsFrom(const at::Tensor& host, std::int64_t skip)
{
    const auto* words = reinterpret_cast<const std::uint64_t*>(host.data_ptr());
    return {words + skip, words + host.numel()};
}

} // namespace

MinMax tensorMinMax(const at::Tensor& x)
{
    const at::Tensor raw = callOp<at::Tensor(const at::Tensor&)>("quantscope::min_max", x);
    return rangeOf(keysFrom(raw, 1)[0]);
}

std::vector<MinMax> tensorMinMaxChannels(const at::Tensor& x, std::int64_t axis)
{
    const at::Tensor raw = callOp<at::Tensor(const at::Tensor&, std::int64_t)>(
        "quantscope::min_max_channels", x, axis);
    std::vector<MinMax> out;
    for (const auto& keys : keysFrom(raw, raw.numel() / kKeysWords))
        out.push_back(rangeOf(keys));
    return out;
}

at::Tensor rangeOn(at::Device device, float low, float high)
{
    const MinMaxKeys keys = keysOf({low, high, 0});
    return rawTensor(&keys, kKeysWords).to(device);
}

at::Tensor queueObservation(const at::Tensor& x, const at::Tensor& known, std::int32_t bins)
{
    return callOp<at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t)>(
        "quantscope::min_max_histogram", x, known, std::int64_t(bins));
}

at::Tensor grownRange(const at::Tensor& observation)
{
    return observation.slice(0, kKeysWords, 2 * kKeysWords);
}

Observed observationFrom(const at::Tensor& observation)
{
    const auto keys = keysFrom(observation, 2);
    const MinMax grown = rangeOf(keys[1]);
    return {rangeOf(keys[0]), grown.min, grown.max, countsFrom(observation, ops::kObserveHeader)};
}

Observed tensorObserve(const at::Tensor& x, float low, float high, std::int32_t bins)
{
    return observationFrom(queueObservation(x, rangeOn(x.device(), low, high), bins).cpu());
}

std::vector<std::uint64_t> tensorHistogram(const at::Tensor& x, kernels::HistogramEdges edges,
                                           std::int32_t bins)
{
    const at::Tensor raw
        = callOp<at::Tensor(const at::Tensor&, double, double, std::int64_t)>(
              "quantscope::histogram", x, edges.low, edges.high, std::int64_t(bins))
              .cpu();
    return countsFrom(raw, 0);
}

kernels::ErrorSums tensorErrorSums(const at::Tensor& signal, const at::Tensor& other)
{
    const at::Tensor raw = callOp<at::Tensor(const at::Tensor&, const at::Tensor&)>(
                               "quantscope::error_sums", signal, other)
                               .cpu();
    kernels::ErrorSums sums;
    std::memcpy(&sums, raw.data_ptr(), sizeof sums);
    return sums;
}

at::Tensor tensorFakeQuant(const at::Tensor& x, double scale, std::int64_t zeroPoint,
                           std::int64_t quantMin, std::int64_t quantMax)
{
    return callOp<at::Tensor(const at::Tensor&, double, std::int64_t, std::int64_t, std::int64_t)>(
        "quantscope::fake_quant", x, scale, zeroPoint, quantMin, quantMax);
}

} // namespace qs

TORCH_LIBRARY_FRAGMENT(quantscope, m)
{
    m.def(qs::ops::kMinMax);
    m.def(qs::ops::kMinMaxChannels);
    m.def(qs::ops::kHistogram);
    m.def(qs::ops::kObserve);
    m.def(qs::ops::kErrorSums);
    m.def(qs::ops::kFakeQuant);
}

TORCH_LIBRARY_IMPL(quantscope, CPU, m)
{
    m.impl("min_max", qs::minMaxOp);
    m.impl("min_max_channels", qs::minMaxChannelsOp);
    m.impl("histogram", qs::histogramOp);
    m.impl("min_max_histogram", qs::observeOp);
    m.impl("error_sums", qs::errorSumsOp);
    m.impl("fake_quant", qs::fakeQuantOp);
}
