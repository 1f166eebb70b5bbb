// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/counting_observer.h"

#include <algorithm>
#include <numeric>

namespace qs {

std::optional<Observed> cutOff(const Observed& of, Bounds bounds)
{
    if (of.counts.empty() || of.batch.nonFinite > 0 || of.batch.min > of.batch.max
        || !(bounds.low <= bounds.high))
        return std::nullopt;
    Observed out = of;
    out.batch.min = std::clamp(of.batch.min, bounds.low, bounds.high);
    out.batch.max = std::clamp(of.batch.max, bounds.low, bounds.high);
    if (out.batch.min < of.low || out.batch.max > of.high)
        return std::nullopt;
    const auto bins = std::int32_t(of.counts.size());
    const auto edges = kernels::histogramEdges(of.low, of.high);
    const auto begin = out.counts.begin();
    if (bounds.low > edges.low) {
        const auto first = begin + kernels::histogramBin(bounds.low, edges, bins);
        *first = std::accumulate(begin, first, *first);
        std::fill(begin, first, 0);
    }
    if (bounds.high < edges.high) {
        const auto last = begin + kernels::histogramBin(bounds.high, edges, bins);
        *last = std::accumulate(last + 1, out.counts.end(), *last);
        std::fill(last + 1, out.counts.end(), 0);
    }
    return out;
}

at::Tensor CountingObserver::queue(const at::Tensor& x)
{
    const Known now = known();
    if (!m_range.defined())
        m_range = rangeOn(x.device(), now.low, now.high);
    at::Tensor observation = queueObservation(x.detach().to(at::kFloat), m_range, now.bins);
    m_range = grownRange(observation);
    return observation;
}

std::int64_t CountingObserver::settle(std::int64_t values, const Observed& observation)
{
    learn({}, observation);
    return add(values, observation.batch);
}

kernels::MinMax CountingObserver::see(const at::Tensor& x, Observed& found)
{
    const Known before = known();
    found = tensorObserve(x, before.low, before.high, before.bins);
    learn(x, found);
    return found.batch;
}

kernels::MinMax CountingObserver::seeFollowing(const at::Tensor& x, const Observed& of,
                                               Bounds bounds, Observed& found)
{
    const Known now = known();
    const auto all = std::accumulate(of.counts.begin(), of.counts.end(), std::uint64_t(0));
    const bool sameBins = now.low == of.low && now.high == of.high
        && std::size_t(now.bins) == of.counts.size() && all == std::uint64_t(x.numel());
    auto following = sameBins ? cutOff(of, bounds) : std::nullopt;
    if (!following)
        return see(x, found);
    found = std::move(*following);
    learn(x, found);
    return found.batch;
}

} // namespace qs
