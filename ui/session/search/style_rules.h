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
    QString colour; ///< "#0072b2", "orange"; empty: as the graph is coloured anyway
    QString label; ///< shown before the node's second line; may be empty
    bool hideDetail = false; ///< second and third line go
    friend bool operator==(const StyleRule&, const StyleRule&) = default;
};

/// The user's style rules in their order: the first whose query finds a node sets its style. A
/// folded module gets the style of its nodes if they all have the same. Stored in the user's
/// settings. Follows model, plan, results and bookmarks. GUI thread only.
class StyleRules : public QObject
{
    Q_OBJECT

public:
    /// As many as there may be: a node keeps its rule in a byte.
    static constexpr std::size_t kMost = 100;

    explicit StyleRules(Workspace& workspace, QObject* parent = nullptr);

    const std::vector<StyleRule>& rules() const { return m_rules; }
    /// Takes over an edited list and keeps it.
    void setRules(std::vector<StyleRule> rules);
    /// Takes over another list, of a project say.
    void replace(std::vector<StyleRule> rules);
    /// The error of a rule's query; empty if it is valid.
    QString error(std::size_t rule) const { return m_errors[rule]; }
    /// Nodes of the open model that a rule decides about.
    int decided(std::size_t rule) const { return m_decided[rule]; }
    /// The rule of an entry of the workspace's tree; -1 without one.
    int ruleOf(int entry) const;

    /// Converts the list to JSON text and back; skips invalid entries.
    static QByteArray toJson(const std::vector<StyleRule>& rules);
    static std::vector<StyleRule> fromJson(const QByteArray& text);

Q_SIGNALS:
    void changed();
    /// The list is another one altogether.
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
    std::optional<NodeSearch> m_index; ///< of the tree at hand, made when it is first needed
    std::vector<std::int8_t> m_ruleOf; ///< by entry; empty without rules
};

} // namespace qs
