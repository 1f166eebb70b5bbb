// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/fine_histogram.h"

#include <algorithm>

namespace qs {

namespace {

constexpr auto kBins = FineHistogram::kBins;

// Returns the counts of `old` over a range that contains its own.
std::vector<float> spread(const Histogram& old, float low, float high)
{
    std::vector<float> out(old.counts.size(), 0.0f);
    const double width = (double(old.max) - old.min) / double(kBins);
    const double step = (double(high) - low) / double(kBins);
    for (std::size_t i = 0; i < old.counts.size(); ++i) {
        const double middle = old.min + width * (double(i) + 0.5);
        const auto bin = std::int64_t((middle - low) / step);
        out[std::size_t(std::clamp<std::int64_t>(bin, 0, kBins - 1))] += old.counts[i];
    }
    return out;
}

} // namespace

void FineHistogram::add(const Observed& seen)
{
    if (seen.low > seen.high) // nothing finite yet
        return;
    const bool first = m_histogram.empty();
    if (first)
        m_histogram.counts.assign(std::size_t(kBins), 0.0f);
    const auto edges = kernels::histogramEdges(seen.low, seen.high);
    if (!first && (edges.low != m_histogram.min || edges.high != m_histogram.max))
        m_histogram.counts = spread(m_histogram, edges.low, edges.high);
    m_histogram.min = edges.low;
    m_histogram.max = edges.high;
    for (std::size_t i = 0; i < m_histogram.counts.size(); ++i)
        m_histogram.counts[i] += float(seen.counts[i]);
}

} // namespace qs
