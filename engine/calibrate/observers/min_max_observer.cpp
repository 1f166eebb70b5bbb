// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/min_max_observer.h"

#include <algorithm>
#include <cmath>

namespace qs {

CountingObserver::Known MinMaxObserver::known() const
{
    Known out;
    out.bins = FineHistogram::kBins;
    if (const Histogram& fine = m_fine.histogram(); !fine.empty()) {
        out.low = fine.min;
        out.high = fine.max;
    }
    return out;
}

void MinMaxObserver::learn(const at::Tensor&, const Observed& seen)
{
    m_fine.add(seen);
    update(seen.batch);
}

void MinMaxObserver::update(const kernels::MinMax& batch)
{
    m_stats.min = std::min(batch.min, m_stats.min);
    m_stats.max = std::max(batch.max, m_stats.max);
}

void MovingAverageObserver::update(const kernels::MinMax& batch)
{
    if (std::isinf(m_stats.min) && std::isinf(m_stats.max)) {
        m_stats.min = batch.min;
        m_stats.max = batch.max;
        return;
    }
    m_stats.min = movingAverage(m_stats.min, batch.min, m_stats.spec.averagingConstant);
    m_stats.max = movingAverage(m_stats.max, batch.max, m_stats.spec.averagingConstant);
}

float movingAverage(float state, float current, double constant)
{
    const float difference = current - state;
    const float share = float(constant) * difference;
    return state + share;
}

} // namespace qs
