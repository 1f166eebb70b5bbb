// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/kept_statistics.h"

#include "engine/calibrate/min_max_observer.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// The same arguments of torch.ao's constructor as far as they change what the observer keeps.
bool sameState(const ObserverSpec& a, const ObserverSpec& b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case ObserverKind::MovingAverageMinMax:
        return a.averagingConstant == b.averagingConstant;
    case ObserverKind::MovingAveragePerChannelMinMax:
        return a.averagingConstant == b.averagingConstant && a.chAxis == b.chAxis;
    case ObserverKind::PerChannelMinMax:
        return a.chAxis == b.chAxis;
    case ObserverKind::Histogram:
        return a.bins == b.bins;
    default:
        return true;
    }
}

/// Whether the extremes of each batch are those of all its values, and there is a histogram to
/// show.
bool tellsBatches(ObserverKind kind)
{
    return kind == ObserverKind::MinMax || kind == ObserverKind::FixedQParams
        || kind == ObserverKind::MovingAverageMinMax || kind == ObserverKind::Histogram;
}

/// The state of a minimum-maximum or moving-average observer, from what another saw.
std::optional<ObserverStats> derived(const ObserverStats& from, const ObserverSpec& spec)
{
    const bool averages = spec.kind == ObserverKind::MovingAverageMinMax;
    const bool wanted
        = averages || spec.kind == ObserverKind::MinMax || spec.kind == ObserverKind::FixedQParams;
    if (!wanted || !tellsBatches(from.spec.kind) || from.nonFinite > 0)
        return std::nullopt;
    ObserverStats out = from;
    out.exact = {};
    out.min = std::numeric_limits<float>::infinity();
    out.max = -out.min;
    for (std::size_t i = 0; i < from.batchMin.size(); ++i) {
        if (averages && i > 0) {
            out.min = movingAverage(out.min, from.batchMin[i], spec.averagingConstant);
            out.max = movingAverage(out.max, from.batchMax[i], spec.averagingConstant);
        } else {
            out.min = std::min(out.min, from.batchMin[i]);
            out.max = std::max(out.max, from.batchMax[i]);
        }
    }
    return out;
}

std::size_t sizeOf(const ObserverStats& stats)
{
    return sizeof stats
        + sizeof(float)
        * (stats.channelMin.size() + stats.channelMax.size() + stats.exact.counts.size()
           + stats.fine.counts.size() + stats.batchMin.size() + stats.batchMax.size());
}

} // namespace

std::optional<ObserverStats> KeptStatistics::find(const Key& seen, ObserverId id,
                                                  const ObserverSpec& spec)
{
    const std::lock_guard lock(m_mutex);
    const auto at = m_at.find(seen);
    if (at == m_at.end())
        return std::nullopt;
    m_entries.splice(m_entries.begin(), m_entries, at->second);
    const auto& kept = at->second->stats;
    std::optional<ObserverStats> found;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const ObserverStats& stats) {
        return sameState(stats.spec, spec);
    });
    if (same != kept.end())
        found = *same;
    for (auto it = kept.begin(); !found && it != kept.end(); ++it)
        found = derived(*it, spec);
    if (found) {
        found->id = id;
        found->spec = spec;
    }
    return found;
}

void KeptStatistics::keep(const Key& seen, const ObserverStats& stats)
{
    const std::lock_guard lock(m_mutex);
    auto at = m_at.find(seen);
    if (at == m_at.end()) {
        m_entries.push_front({seen, {}});
        at = m_at.emplace(seen, m_entries.begin()).first;
    } else {
        m_entries.splice(m_entries.begin(), m_entries, at->second);
    }
    auto& kept = at->second->stats;
    std::erase_if(kept, [&](const ObserverStats& old) {
        const bool same = sameState(old.spec, stats.spec);
        m_bytes -= same ? sizeOf(old) : 0;
        return same;
    });
    kept.push_back(stats);
    m_bytes += sizeOf(stats);
    shrink();
}

void KeptStatistics::shrink()
{
    while (m_bytes > m_budget && m_entries.size() > 1) {
        for (const ObserverStats& stats : m_entries.back().stats)
            m_bytes -= sizeOf(stats);
        m_at.erase(m_entries.back().seen);
        m_entries.pop_back();
    }
}

std::size_t KeptStatistics::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_bytes;
}

} // namespace qs
