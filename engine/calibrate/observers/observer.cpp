// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/observer.h"

#include "engine/calibrate/convergence/convergence.h"

#include <ATen/ATen.h>

namespace qs {

Observer::Observer(ObserverId id, const ObserverSpec& spec)
{
    m_stats.id = id;
    m_stats.spec = spec;
    m_stats.min = std::numeric_limits<float>::infinity();
    m_stats.max = -std::numeric_limits<float>::infinity();
}

std::int64_t Observer::observe(const at::Tensor& x)
{
    Observed found;
    return observe(x, found);
}

std::int64_t Observer::observe(const at::Tensor& x, Observed& found)
{
    if (x.numel() == 0)
        return 0;
    return add(x.numel(), see(x.detach().to(at::kFloat), found));
}

std::int64_t Observer::observeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                        Observed& found)
{
    // a narrower type would round the bounds
    if (x.numel() == 0 || x.scalar_type() != at::kFloat)
        return observe(x, found);
    return add(x.numel(), seeFollowing(x.detach(), of, bounds, found));
}

kernels::MinMax Observer::seeFollowing(const at::Tensor& x, const Observed&, Bounds,
                                       Observed& found)
{
    return see(x, found);
}

std::int64_t Observer::add(std::int64_t values, const kernels::MinMax& batch)
{
    m_stats.count += values;
    m_stats.nonFinite += batch.nonFinite;
    m_stats.batchMin.push_back(batch.min);
    m_stats.batchMax.push_back(batch.max);
    return batch.nonFinite;
}

ObserverStats Observer::stats() const
{
    ObserverStats out = m_stats;
    fill(out);
    return out;
}

void Observer::record(const RangeAfter& range)
{
    std::erase_if(m_stats.ranges, [&](const RangeAfter& one) {
        return one.batches >= range.batches || !isRecordedCount(one.batches);
    });
    m_stats.ranges.push_back(range);
}

void Observer::restore(ObserverStats stats)
{
    take(stats);
    stats.exact = {};
    stats.fine = {};
    m_stats = std::move(stats);
}

} // namespace qs
