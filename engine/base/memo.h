// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace qs {

/// Cache of results of all stages, by key. Above `budget` bytes it evicts the least recently used
/// results, except those with other owners (a view, another result), whose eviction would free no
/// memory. Thread safe.
class Memo
{
public:
    explicit Memo(std::size_t budget)
        : m_budget(budget)
    {
    }

    /// Null for an unknown key.
    template<class T>
    std::shared_ptr<const T> find(const Key& key)
    {
        return std::static_pointer_cast<const T>(findAny(key));
    }
    /// Adds a result. `bytes`: memory that evicting it frees.
    template<class T>
    void keep(const Key& key, const std::shared_ptr<const T>& value, std::size_t bytes)
    {
        keepAny(key, value, bytes);
    }
    /// Removes a result immediately; no effect for an unknown key.
    void forget(const Key& key)
    {
        const std::lock_guard lock(m_mutex);
        if (const auto at = m_at.find(key); at != m_at.end())
            drop(at->second);
    }
    std::size_t bytes() const
    {
        const std::lock_guard lock(m_mutex);
        return m_bytes;
    }
    std::size_t budget() const
    {
        const std::lock_guard lock(m_mutex);
        return m_budget;
    }
    /// Sets the limit and evicts immediately.
    void setBudget(std::size_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_budget = bytes;
        dropOver(m_entries.end());
    }

private:
    struct Entry
    {
        Key key;
        std::shared_ptr<const void> value;
        std::size_t bytes = 0;
    };
    using Entries = std::list<Entry>;

    std::shared_ptr<const void> findAny(const Key& key)
    {
        const std::lock_guard lock(m_mutex);
        const auto at = m_at.find(key);
        if (at == m_at.end())
            return nullptr;
        m_entries.splice(m_entries.begin(), m_entries, at->second);
        return at->second->value;
    }

    void keepAny(const Key& key, std::shared_ptr<const void> value, std::size_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        if (const auto at = m_at.find(key); at != m_at.end())
            drop(at->second);
        m_entries.push_front({key, std::move(value), bytes});
        m_at[key] = m_entries.begin();
        m_bytes += bytes;
        dropOver(m_entries.begin());
    }

    /// Evicts the least recently used entries, except `spared`.
    void dropOver(Entries::iterator spared)
    {
        for (auto it = m_entries.end(); m_bytes > m_budget && it != m_entries.begin();) {
            const auto last = std::prev(it);
            if (last == spared)
                return;
            it = last->value.use_count() == 1 ? drop(last) : last;
        }
    }

    Entries::iterator drop(Entries::iterator entry)
    {
        m_bytes -= entry->bytes;
        m_at.erase(entry->key);
        return m_entries.erase(entry);
    }

    mutable std::mutex m_mutex;
    std::size_t m_budget;
    std::size_t m_bytes = 0;
    Entries m_entries; ///< most recently used first
    std::unordered_map<Key, Entries::iterator> m_at;
};

} // namespace qs
