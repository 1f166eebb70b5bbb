// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observer.h"

#include <ATen/ATen.h>

#include <limits>

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
    if (x.numel() == 0)
        return 0;
    const at::Tensor plain = x.detach().to(at::kFloat);
    const kernels::MinMax batch = see(plain);
    m_stats.count += x.numel();
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

void Observer::restore(ObserverStats stats)
{
    take(stats);
    stats.exact = {};
    stats.fine = {};
    m_stats = std::move(stats);
}

} // namespace qs
