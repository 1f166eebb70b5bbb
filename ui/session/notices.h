// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScopedValueRollback>
#include <QThread>

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>

namespace qs {

/// Notifications of views, in their order of delivery: a new graph first, so that holders of
/// entries of a hierarchy drop them before other queries; then decisions and results; then values
/// derived from them; the selection last.
enum class Notice : std::uint8_t
{
    Model, ///< Document::modelChanged
    Graph, ///< Document::graphEdited
    Tree, ///< Workspace::treeChanged
    Recipe, ///< Document::recipeChanged
    Settings, ///< Document::settingsChanged
    Plan, ///< Document::planChanged
    Results, ///< Document::resultsChanged
    Facts, ///< Workspace::factsChanged
    Filter, ///< Workspace::filterChanged
    Saved, ///< Document::savedChanged
    Selection ///< Selection::changed
};
inline constexpr auto kNoticeCount = std::size_t(Notice::Selection) + 1;

/// Delivers the signals of a session in the order of `Notice`. Derived values are updated before
/// the first signal of a change; a change made by a slot is delivered after the current signal, the
/// lowest notice first. So each slot finds document, hierarchy, facts and selection of one graph,
/// and a view receives a selection after the graph and results that it belongs to.
/// GUI thread only.
class Notices
{
public:
    using Set = std::bitset<kNoticeCount>;
    static bool has(const Set& set, Notice notice) { return set.test(std::size_t(notice)); }

    Notices() = default;
    Notices(const Notices&) = delete;
    Notices& operator=(const Notices&) = delete;

    /// Sets the function that delivers a notice: it emits the signal.
    void deliverWith(Notice notice, std::function<void()> deliver)
    {
        m_deliver[std::size_t(notice)] = std::move(deliver);
    }
    /// Sets the function that updates derived values after a post and posts their changes.
    void deriveWith(std::function<void(const Set& posted)> derive) { m_derive = std::move(derive); }

    void post(std::initializer_list<Notice> posted)
    {
        Set set;
        for (const Notice notice : posted)
            set.set(std::size_t(notice));
        m_pending |= set;
        if (m_isDeriving)
            return; // the outer post delivers
        if (m_derive) {
            const QScopedValueRollback deriving(m_isDeriving, true);
            m_derive(set);
        }
        // A slot that runs a nested event loop, for a dialog, does not delay the others.
        const int level = QThread::currentThread()->loopLevel();
        if (m_level == level)
            return;
        const QScopedValueRollback delivering(m_level, level);
        deliverAll();
    }

private:
    void deliverAll()
    {
        for (std::size_t i = 0; i < kNoticeCount;) {
            if (!m_pending.test(i)) {
                ++i;
                continue;
            }
            m_pending.reset(i);
            if (m_deliver[i])
                m_deliver[i]();
            i = 0;
        }
    }

    std::array<std::function<void()>, kNoticeCount> m_deliver;
    std::function<void(const Set&)> m_derive;
    Set m_pending;
    bool m_isDeriving = false;
    int m_level = -1; ///< of the event loop that delivers; -1 while idle
};

} // namespace qs
