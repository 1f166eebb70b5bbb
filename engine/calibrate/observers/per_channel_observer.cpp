// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/per_channel_observer.h"

#include "engine/calibrate/observers/min_max_observer.h"
#include "engine/kernels/ops.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace qs {

kernels::MinMax PerChannelObserver::see(const at::Tensor& x, Observed&)
{
    const ObserverSpec& spec = m_stats.spec;
    const auto channels = spec.groupSize > 0
        ? tensorMinMaxChannels(x.reshape({-1, spec.groupSize}), 0)
        : tensorMinMaxChannels(x, spec.chAxis);
    const bool first = m_stats.channelMin.empty();
    TORCH_CHECK(first || m_stats.channelMin.size() == channels.size(), "an observer of ",
                m_stats.channelMin.size(), " channels was given ", channels.size());
    const bool averages = m_stats.spec.kind == ObserverKind::MovingAveragePerChannelMinMax;
    const double constant = m_stats.spec.averagingConstant;
    kernels::MinMax batch;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        const kernels::MinMax& now = channels[i];
        merge(batch, now);
        if (first) {
            m_stats.channelMin.push_back(now.min);
            m_stats.channelMax.push_back(now.max);
            continue;
        }
        float& low = m_stats.channelMin[i];
        float& high = m_stats.channelMax[i];
        low = averages ? movingAverage(low, now.min, constant) : std::min(now.min, low);
        high = averages ? movingAverage(high, now.max, constant) : std::max(now.max, high);
    }
    m_stats.min = *std::min_element(m_stats.channelMin.begin(), m_stats.channelMin.end());
    m_stats.max = *std::max_element(m_stats.channelMax.begin(), m_stats.channelMax.end());
    return batch;
}

} // namespace qs
