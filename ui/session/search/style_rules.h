// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/node_search.h"
#endif

#include <QObject>

#include <cstdint>
#include <optional>
#include <vector>

class QByteArray;

namespace qs {

class Workspace;

/// How nodes that a search finds are shown. A value.
struct StyleRule
{
    QString query; ///< a search expression
    QString colour; ///< "#0072b2", "orange"; empty: the graph's colour stays
    QString label; ///< shown before the node's second line; may be empty
    bool hideDetail = false; ///< hides the second and third line
    friend bool operator==(const StyleRule&, const StyleRule&) = default;
};

/// The user's style rules in their order: the first whose query finds a node sets its style. A
/// folded module gets the style of its nodes if they all have the same. Stored in the user's
/// settings. Follows model, plan, results and bookmarks. GUI thread only.
class StyleRules : public QObject
{
    Q_OBJECT

public:
    /// Maximum number of rules: a node stores its rule in a byte.
    static constexpr std::size_t kMost = 100;

    explicit StyleRules(Workspace& workspace, QObject* parent = nullptr);

    const std::vector<StyleRule>& rules() const { return m_rules; }
    /// Sets the list after an edit and stores it.
    void setRules(std::vector<StyleRule> rules);
    /// Sets another list, for example of a project, and emits `replaced`.
    void replace(std::vector<StyleRule> rules);
    /// The error of a rule's query; empty if it is valid.
    QString error(std::size_t rule) const { return m_errors[rule]; }
    /// The number of units whose style the rule sets.
    int decided(std::size_t rule) const { return m_decided[rule]; }
    /// The index of the rule of an entry of the workspace's tree; -1 without one.
    int ruleOf(int entry) const;

    /// Converts the list to JSON text and back; skips invalid entries.
    static QByteArray toJson(const std::vector<StyleRule>& rules);
    static std::vector<StyleRule> fromJson(const QByteArray& text);

Q_SIGNALS:
    void changed();
    /// The list was replaced by another one.
    void replaced();

private:
    void readQueries();
    void apply();
    std::int8_t applyTo(int entry);

    Workspace& m_workspace;
    std::vector<StyleRule> m_rules;
    std::vector<SearchQuery> m_queries;
    std::vector<QString> m_errors;
    std::vector<int> m_decided;
    std::optional<NodeSearch> m_index; ///< of the current tree, built on first use
    std::vector<std::int8_t> m_ruleOf; ///< by entry; empty without rules
};

} // namespace qs
