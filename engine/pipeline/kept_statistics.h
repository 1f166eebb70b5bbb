// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/calibrate/observations.h"

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Cache of observers' statistics, by the observed values (`observedKeys` with the data's key), not
/// by the plan. Evicts the least recently used. Thread safe.
class KeptStatistics
{
public:
    explicit KeptStatistics(std::size_t bytes)
        : m_budget(bytes)
    {
    }

    /// The exact statistics of an observer with this id and spec, from cached statistics of the
    /// same kind and state or from ones that determine it (the extremes of each batch determine
    /// extremes and moving averages). Empty if the data must be read again.
    std::optional<ObserverStats> find(const Key& seen, ObserverId id, const ObserverSpec& spec);
    void keep(const Key& seen, const ObserverStats& stats);

    std::size_t bytes() const;

private:
    struct Entry
    {
        Key seen;
        std::vector<ObserverStats> stats; ///< one for each kind of state
    };
    using Entries = std::list<Entry>;

    void shrink();

    mutable std::mutex m_mutex;
    std::size_t m_budget;
    std::size_t m_bytes = 0;
    Entries m_entries; ///< most recently used first
    std::unordered_map<Key, Entries::iterator> m_at;
};

} // namespace qs
