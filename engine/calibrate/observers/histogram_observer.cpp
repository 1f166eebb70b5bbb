// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/histogram_observer.h"

#include "engine/kernels/ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kUpsampleRate = 16;
/// A float32 counter incremented by one saturates here.
constexpr std::uint64_t kFloatLimit = std::uint64_t(1) << 24;
/// `histc` gives every thread at least this many values.
constexpr std::int64_t kHistcGrain = 200;

std::vector<float> toVector(const at::Tensor& tensor)
{
    const at::Tensor flat = tensor.contiguous();
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

// Reproduces histc, which counts in float32, one table per thread, and adds the tables. Above 2^24
// values in a bin the result saturates and depends on the distribution over threads.
std::vector<float> saturatedCounts(const at::Tensor& x, kernels::HistogramEdges edges,
                                   std::int32_t bins)
{
    const at::Tensor flat = x.contiguous().view({-1});
    const std::int64_t count = flat.numel();
    const std::int64_t threads
        = std::min<std::int64_t>(at::get_num_threads(), (count + kHistcGrain - 1) / kHistcGrain);
    const std::int64_t length = (count + threads - 1) / threads;
    at::Tensor tables = at::zeros({at::get_num_threads(), bins}, at::kFloat);
    for (std::int64_t part = 0; part * length < count; ++part) {
        const std::int64_t end = std::min(count, (part + 1) * length);
        const auto counts = tensorHistogram(flat.slice(0, part * length, end), edges, bins);
        float* row = tables.data_ptr<float>() + part * bins;
        for (std::int32_t bin = 0; bin < bins; ++bin)
            row[bin] = float(std::min(counts[std::size_t(bin)], kFloatLimit));
    }
    return toVector(at::sum(tables, {0}));
}

std::vector<float> floatCounts(const at::Tensor& x, const Observed& seen, std::int32_t bins)
{
    const auto most = *std::max_element(seen.counts.begin(), seen.counts.end());
    if (most >= kFloatLimit && x.defined() && x.is_cpu())
        return saturatedCounts(x, kernels::histogramEdges(seen.low, seen.high), bins);
    return {seen.counts.begin(), seen.counts.end()};
}

struct Range
{
    float min = 0;
    float max = 0;
    friend bool operator==(const Range&, const Range&) = default;
};

// Adds old counts to `into`, whose range contains theirs: every old bin is divided into 16 parts,
// each assigned to the new bin that contains its middle.
void dealInto(std::vector<float>& into, const std::vector<float>& old, Range from, Range to)
{
    const auto bins = std::int64_t(old.size());
    const std::int64_t parts = bins * kUpsampleRate;
    const float partWidth = (from.max - from.min) / float(parts);
    const auto starts = toVector(at::linspace(from.min, from.max, parts + 1, at::kFloat));
    const auto edges = toVector(at::linspace(to.min, to.max, bins + 1, at::kFloat));
    const float half = 0.5f * partWidth;
    std::vector<float> dealt(old.size(), 0.0f);
    std::int64_t above = 0; // index of the first edge above the middle; increases with the parts
    for (std::int64_t part = 0; part < parts; ++part) {
        const float middle = starts[std::size_t(part)] + half;
        while (above <= bins && !(middle < edges[std::size_t(above)]))
            ++above;
        while (above > 0 && middle < edges[std::size_t(above - 1)])
            --above; // rounding in linspace may require a step back
        const std::int64_t bin = std::clamp<std::int64_t>(above - 1, 0, bins - 1);
        dealt[std::size_t(bin)] += old[std::size_t(part / kUpsampleRate)] / float(kUpsampleRate);
    }
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] += dealt[i];
}

// Adds old counts that all belong to one point.
void addPoint(std::vector<float>& into, const std::vector<float>& old, float point, Range to)
{
    const float total
        = at::from_blob(const_cast<float*>(old.data()), {std::int64_t(old.size())}, at::kFloat)
              .sum()
              .item<float>();
    const auto bins = std::int32_t(into.size());
    const auto bin = kernels::histogramBin(point, kernels::histogramEdges(to.min, to.max), bins);
    if (bin < bins)
        into[std::size_t(bin)] += total;
}

} // namespace

CountingObserver::Known HistogramObserver::known() const
{
    return {m_stats.min, m_stats.max, std::int32_t(m_stats.spec.bins)};
}

void HistogramObserver::learn(const at::Tensor& x, const Observed& seen)
{
    if (seen.batch.min > seen.batch.max) // nothing finite
        return;
    const auto [low, high, bins] = known();
    const Range old {low, high};
    const Range grown {seen.low, seen.high};
    std::vector<float> counts = floatCounts(x, seen, bins);
    if (low <= high) {
        if (grown == old)
            for (std::size_t i = 0; i < counts.size(); ++i)
                counts[i] += m_counts[i];
        else if (old.min == old.max)
            addPoint(counts, m_counts, old.min, grown);
        else
            dealInto(counts, m_counts, old, grown);
    }
    m_counts = std::move(counts);
    m_stats.min = grown.min;
    m_stats.max = grown.max;
}

void HistogramObserver::fill(ObserverStats& stats) const
{
    if (m_counts.empty())
        return;
    stats.exact = {stats.min, stats.max, m_counts};
    const auto edges = kernels::histogramEdges(stats.min, stats.max);
    stats.fine = {edges.low, edges.high, m_counts};
}

} // namespace qs
