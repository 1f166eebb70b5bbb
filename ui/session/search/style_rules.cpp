// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/style_rules.h"

#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

namespace qs {

namespace {

const QString kStyleRulesKey = QStringLiteral("styleRules");
/// Rule of a module whose nodes have different rules.
constexpr std::int8_t kMixed = -2;
constexpr std::int8_t kNoRule = -1;

} // namespace

StyleRules::StyleRules(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_rules(fromJson(QSettings().value(kStyleRulesKey).toByteArray()))
{
    const auto later = coalesced(this, [this] { apply(); });
    connect(&workspace, &Workspace::treeChanged, this, [this, later] {
        m_index.reset();
        m_ruleOf.clear(); // entries of the previous tree
        later();
    });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.bookmarks(), &Bookmarks::changed, this, later);
    readQueries();
}

void StyleRules::setRules(std::vector<StyleRule> rules)
{
    if (rules.size() > kMost)
        rules.resize(kMost);
    if (rules == m_rules)
        return;
    m_rules = std::move(rules);
    if (m_rules.empty())
        QSettings().remove(kStyleRulesKey);
    else
        QSettings().setValue(kStyleRulesKey, toJson(m_rules));
    readQueries();
    apply();
    Q_EMIT changed();
}

void StyleRules::replace(std::vector<StyleRule> rules)
{
    setRules(std::move(rules));
    Q_EMIT replaced();
}

int StyleRules::ruleOf(int entry) const
{
    return std::size_t(entry) < m_ruleOf.size() ? std::max(m_ruleOf[std::size_t(entry)], kNoRule)
                                                : kNoRule;
}

void StyleRules::readQueries()
{
    m_queries.clear();
    m_errors.clear();
    for (const StyleRule& rule : m_rules) {
        auto query = parseSearch(rule.query);
        m_errors.push_back(query ? QString() : searchProblem(query.error()));
        m_queries.push_back(query ? std::move(*query) : SearchQuery());
    }
    m_decided.assign(m_rules.size(), 0);
}

/// Evaluates all rules; emits `changed` only if the rule of an entry changed.
void StyleRules::apply()
{
    const auto& tree = m_workspace.foldTree();
    std::vector<std::int8_t> before = std::move(m_ruleOf);
    m_ruleOf.clear();
    m_decided.assign(m_rules.size(), 0);
    if (tree && !m_rules.empty()) {
        if (!m_index)
            m_index.emplace(tree, m_workspace.document().model());
        m_ruleOf.assign(tree->size(), kNoRule);
        for (std::size_t i = 0; i < m_queries.size(); ++i)
            for (const int unit :
                 m_index->find(m_queries[i], m_workspace.facts(), m_workspace.bookmarks().nodes()))
                if (auto& rule = m_ruleOf[std::size_t(unit)]; rule == kNoRule) {
                    rule = std::int8_t(i);
                    ++m_decided[i];
                }
        applyTo(FoldTree::kRoot);
    }
    if (m_ruleOf != before)
        Q_EMIT changed();
}

/// Gives a module the common rule of its operators, `kMixed` if they differ; returns it.
std::int8_t StyleRules::applyTo(int index)
{
    const auto& entry = m_workspace.foldTree()->entry(index);
    if (!entry.isModule())
        return m_ruleOf[std::size_t(index)];
    std::optional<std::int8_t> common;
    for (const int child : entry.children) {
        const std::int8_t rule = applyTo(child);
        common = common && *common != rule ? kMixed : rule;
    }
    return m_ruleOf[std::size_t(index)] = common.value_or(kNoRule);
}

QByteArray StyleRules::toJson(const std::vector<StyleRule>& rules)
{
    QJsonArray out;
    for (const StyleRule& rule : rules)
        out.append(QJsonObject {{QStringLiteral("query"), rule.query},
                                {QStringLiteral("colour"), rule.colour},
                                {QStringLiteral("label"), rule.label},
                                {QStringLiteral("hideDetail"), rule.hideDetail}});
    return QJsonDocument(out).toJson(QJsonDocument::Compact);
}

std::vector<StyleRule> StyleRules::fromJson(const QByteArray& text)
{
    std::vector<StyleRule> out;
    const QJsonArray list = QJsonDocument::fromJson(text).array();
    for (const auto& item : list) {
        const QJsonObject rule = item.toObject();
        if (rule.isEmpty() || out.size() >= kMost)
            continue;
        out.push_back({rule[QStringLiteral("query")].toString(),
                       rule[QStringLiteral("colour")].toString(),
                       rule[QStringLiteral("label")].toString(),
                       rule[QStringLiteral("hideDetail")].toBool()});
    }
    return out;
}

} // namespace qs
