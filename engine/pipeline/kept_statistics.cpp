// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/kept_statistics.h"

#include "engine/calibrate/observers/derived_stats.h"

#include <algorithm>

namespace qs {

namespace {

std::size_t sizeOf(const ObserverStats& stats)
{
    return sizeof stats
        + sizeof(float)
        * (stats.channelMin.size() + stats.channelMax.size() + stats.exact.counts.size()
           + stats.fine.counts.size() + stats.batchMin.size() + stats.batchMax.size())
        + sizeof(RangeAfter) * stats.ranges.size();
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
        found = derivedStats(*same, spec);
    for (auto it = kept.begin(); !found && it != kept.end(); ++it)
        found = derivedStats(*it, spec);
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
