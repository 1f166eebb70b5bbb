// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/metrics.h"

#include "engine/base/decibels.h"
#include "engine/kernels/ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace qs {

namespace {

bool isFinite(const ErrorSums& sums)
{
    return std::isfinite(sums.signal2) && std::isfinite(sums.other2) && std::isfinite(sums.noise2);
}

/// Whether the elements of two tensors of equal shape have the same memory order. Ignores strides
/// of dimensions with one element.
bool lieAlike(const at::Tensor& a, const at::Tensor& b)
{
    for (std::int64_t i = 0; i < a.dim(); ++i)
        if (a.size(i) > 1 && a.stride(i) != b.stride(i))
            return false;
    return true;
}

ErrorSums sumsOnCpu(const at::Tensor& signal, const at::Tensor& other)
{
    at::Tensor s = signal.to(at::kCPU, at::kFloat);
    at::Tensor o = other.to(at::kCPU, at::kFloat);
    if (!s.is_non_overlapping_and_dense() || !lieAlike(s, o)) { // else memory order is used
        s = s.contiguous();
        o = o.contiguous();
    }
    return kernels::errorSumsCpu(s.const_data_ptr<float>(), o.const_data_ptr<float>(), s.numel(),
                                 at::get_num_threads());
}

/// Computes the sums in double on the tensors' device; copies only the sums to the CPU.
ErrorSums sumsOnDevice(const at::Tensor& signal, const at::Tensor& other)
{
    const at::Tensor s = signal.to(at::kDouble).flatten();
    const at::Tensor o = other.to(at::kDouble).flatten();
    const at::Tensor noise = o - s;
    const at::Tensor all
        = at::stack({(s * s).sum(), (o * o).sum(), (s * o).sum(), (noise * noise).sum(),
                     noise.to(at::kFloat).abs().max().to(at::kDouble)})
              .cpu();
    const double* v = all.const_data_ptr<double>();
    return {v[0], v[1], v[2], v[3], v[4], s.numel()};
}

ErrorSums sumsOf(const at::Tensor& signal, const at::Tensor& other)
{
    return signal.is_cpu() || signal.numel() == 0 ? sumsOnCpu(signal, other)
                                                  : sumsOnDevice(signal, other);
}

/// The sums of `signal` and the noise `made - wanted`, by the rule for infinities and NaN.
ErrorSums sumsWithInfinities(const at::Tensor& signal, const at::Tensor& wanted,
                             const at::Tensor& made)
{
    const at::Tensor same = wanted.eq(made).logical_or(wanted.isnan().logical_and(made.isnan()));
    const at::Tensor noise = (made - wanted).masked_fill(same, 0);
    const at::Tensor infinite = noise.isfinite().logical_not();
    const at::Tensor keep = signal.isfinite().logical_and(infinite.logical_not());
    const at::Tensor other = wanted.is_same(signal) ? made : signal + noise;
    ErrorSums sums = sumsOf(signal.masked_select(keep), other.masked_select(keep));
    if (const auto count = infinite.sum().item<std::int64_t>(); count > 0) {
        constexpr double kInfinite = std::numeric_limits<double>::infinity();
        sums.noise2 = sums.maxAbs = kInfinite;
        sums.dot = std::numeric_limits<double>::quiet_NaN();
        if (made.masked_select(infinite).isfinite().logical_not().any().item<bool>())
            sums.other2 = kInfinite;
        sums.count += count;
    }
    return sums;
}

} // namespace

bool isInfiniteError(const ErrorSums& sums)
{
    return !std::isfinite(sums.noise2);
}

Result<void> checkNoNaN(const at::Tensor& signal)
{
    if (!signal.isnan().any().item<bool>())
        return {};
    return fail(makeError(ErrorCode::Numeric, "its value in the float model holds NaN")
                    .withHint("check the data and the model"));
}

Result<void> addError(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& other)
{
    if (signal.sizes() != other.sizes())
        return fail(ErrorCode::Internal,
                    "the converted value has another shape than the float one");
    ErrorSums added = sumsOf(signal, other);
    if (!isFinite(added)) {
        const at::Tensor y = signal.to(at::kFloat);
        added = sumsWithInfinities(y, y, other.to(at::kFloat));
    }
    kernels::merge(sums, added);
    return {};
}

namespace {

/// Whether all values are on the CPU and can be read in the same memory order.
bool alikeOnCpu(const at::Tensor& signal, std::initializer_list<at::Tensor> others)
{
    const auto like = [&](const at::Tensor& other) {
        return other.is_cpu() && other.scalar_type() == at::kFloat
            && other.sizes() == signal.sizes() && lieAlike(other, signal);
    };
    return signal.is_non_overlapping_and_dense() && like(signal)
        && std::all_of(others.begin(), others.end(), like);
}

} // namespace

Result<void> addErrors(UnitSums& sums, const UnitValues& v)
{
    if (alikeOnCpu(v.signal, {v.converted, v.onConverted, v.quantizedOnFloat})) {
        const UnitSums added = kernels::errorTermsCpu(
            {v.signal.const_data_ptr<float>(), v.converted.const_data_ptr<float>(),
             v.onConverted.const_data_ptr<float>(), v.quantizedOnFloat.const_data_ptr<float>()},
            v.signal.numel(), at::get_num_threads());
        if (isFinite(added.isolated) && isFinite(added.inherited) && isFinite(added.bornHere)
            && isFinite(added.cumulative)) {
            kernels::merge(sums, added);
            return {};
        }
    }
    QS_CHECK(addError(sums.isolated, v.signal, v.quantizedOnFloat));
    QS_CHECK(addError(sums.inherited, v.signal, v.onConverted));
    QS_CHECK(addError(sums.cumulative, v.signal, v.converted));
    ErrorSums bornHere = sumsOf(v.signal, v.signal + (v.converted - v.onConverted));
    if (!isFinite(bornHere))
        bornHere = sumsWithInfinities(v.signal.to(at::kFloat), v.onConverted.to(at::kFloat),
                                      v.converted.to(at::kFloat));
    kernels::merge(sums.bornHere, bornHere);
    return {};
}

Result<void> addCumulative(ErrorSums& sums, const at::Tensor& signal, const at::Tensor& converted)
{
    if (alikeOnCpu(signal, {converted})) {
        const ErrorSums added = kernels::cumulativeErrorCpu(signal.const_data_ptr<float>(),
                                                            converted.const_data_ptr<float>(),
                                                            signal.numel(), at::get_num_threads());
        if (isFinite(added)) {
            kernels::merge(sums, added);
            return {};
        }
    }
    return addError(sums, signal, converted);
}

namespace {

constexpr std::int64_t kBlock = 61; ///< elements of a block; a prime, divides no usual size

std::int64_t primeFrom(std::int64_t number)
{
    const auto isPrime = [](std::int64_t n) {
        for (std::int64_t d = 2; d * d <= n; ++d)
            if (n % d == 0)
                return false;
        return n > 1;
    };
    while (!isPrime(number))
        ++number;
    return number;
}

/// The elements as float32: in memory order if `alike`, else in logical order.
at::Tensor flatFloats(const at::Tensor& values, bool alike)
{
    const at::Tensor x = values.to(at::kFloat);
    return alike && x.is_non_overlapping_and_dense() ? x.as_strided({x.numel()}, {1}) : x.flatten();
}

/// The elements that are counted: all or, if there are many, every n-th short block. n is a prime,
/// so that the blocks do not stay in step with a dimension of the value and skip channels.
at::Tensor countedOf(const at::Tensor& flat)
{
    const std::int64_t count = flat.numel();
    if (count <= ValueCounts::kMostOfBatch)
        return flat;
    const std::int64_t every
        = primeFrom((count + ValueCounts::kMostOfBatch - 1) / ValueCounts::kMostOfBatch);
    return flat.unfold(0, kBlock, kBlock * every).contiguous();
}

void count(ValueCounts::Bins& bins, const at::Tensor& x, kernels::HistogramEdges edges)
{
    const auto inside = tensorHistogram(x, edges, ValueCounts::kBins);
    std::uint64_t outside = std::uint64_t(x.numel());
    for (std::size_t i = 0; i < inside.size(); ++i) {
        bins[i] += inside[i];
        outside -= inside[i];
    }
    bins.back() += outside;
}

} // namespace

void addCounts(ValueCounts& counts, std::span<const ValuePair> results)
{
    if (!counts.hasGrid) {
        kernels::MinMax range;
        for (const auto& [y, converted] : results)
            kernels::merge(range, tensorMinMax(y.to(at::kFloat)));
        counts.hasGrid = range.min <= range.max;
        if (counts.hasGrid) {
            const auto edges = kernels::histogramEdges(range.min, range.max);
            counts.low = edges.low;
            counts.high = edges.high;
        }
    }
    // Without a grid no value is finite; values that are not finite count as outside.
    const kernels::HistogramEdges edges {counts.low, counts.high};
    for (const auto& [y, converted] : results) {
        const bool alike = lieAlike(y, converted);
        count(counts.floating, countedOf(flatFloats(y, alike)), edges);
        count(counts.converted, countedOf(flatFloats(converted, alike)), edges);
    }
}

ErrorSums noiselessSums(const ErrorSums& sums)
{
    return {sums.signal2, sums.signal2, sums.signal2, 0, 0, sums.count};
}

std::optional<ErrorMetrics> metricsFrom(const ErrorSums& sums)
{
    if (sums.count == 0)
        return std::nullopt;
    ErrorMetrics metrics;
    metrics.mse = sums.noise2 / double(sums.count);
    metrics.maxAbs = sums.maxAbs;
    const double norms = std::sqrt(sums.signal2) * std::sqrt(sums.other2);
    if (norms > 0)
        metrics.cosine = std::clamp(sums.dot / norms, -1.0, 1.0);
    else
        metrics.cosine = sums.signal2 == sums.other2 ? 1 : 0;
    if (isInfiniteError(sums))
        metrics.sqnrDb = -kExactDb;
    else if (sums.signal2 > 0)
        metrics.sqnrDb = decibelsOf(sums.signal2, sums.noise2);
    return metrics;
}

} // namespace qs
