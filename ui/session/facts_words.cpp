// SPDX-License-Identifier: GPL-3.0-or-later
// Facts: names of nodes and texts of the decisions on them.
#include "engine/base/text.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/names/node_words.h"
#include "ui/session/facts.h"
#include "ui/session/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

QString titleIn(const FoldTreePtr& tree, const GraphPtr& model, NodeId node)
{
    const int unit = tree ? tree->unitOf(node) : -1;
    if (unit >= 0)
        return QString::fromStdString(tree->entry(unit).title);
    const Node* found = model ? model->tryGet(node) : nullptr;
    if (!found)
        return {};
    const bool byTarget = found->isStored() && !found->target.empty();
    return QString::fromStdString(byTarget ? found->target : nodeTitle(*model, node));
}

} // namespace

QString titleOf(const Document& document, NodeId node)
{
    return titleIn(document.hierarchy(), document.model(), node);
}

QString titlesOf(const Document& document, std::span<const NodeId> nodes)
{
    constexpr int kNamed = 3;
    QStringList names;
    for (const NodeId node : nodes)
        if (const QString name = titleOf(document, node); !names.contains(name)) {
            names << name;
            if (names.size() > kNamed)
                return QObject::tr("%1 nodes").arg(nodes.size());
        }
    return names.join(QStringLiteral(", "));
}

QString Facts::title(NodeId node) const
{
    return titleIn(m_tree, m_model, node);
}

QString Facts::titled(const QString& sentence) const
{
    const std::string text = sentence.toStdString();
    const auto named
        = [this](const std::string& name) { return m_model ? m_model->tryFind(name) : nullptr; };
    std::map<QString, std::set<NodeId>> withTitle;
    withNodeWords(text, [&](const std::string& name) {
        if (const Node* node = named(name))
            withTitle[title(node->id)].insert(node->id);
        return std::string();
    });
    // If a sentence names several members of one unit, each keeps its separate title.
    return toQString(withNodeWords(text, [&](const std::string& name) {
        const Node* node = named(name);
        if (!node)
            return std::string();
        const QString unit = title(node->id);
        return inQuotes(withTitle[unit].size() > 1 ? nodeTitle(*m_model, node->id)
                                                   : unit.toStdString());
    }));
}

QString Facts::qconfigText(std::span<const NodeId> nodes) const
{
    std::optional<std::string> common;
    for (NodeId node : nodes) {
        const auto* decided = plan(node);
        if (!decided || !decided->eligible)
            continue;
        if (common && *common != decided->qconfigName)
            return QStringLiteral("mixed");
        common = decided->qconfigName;
    }
    if (!common)
        return {};
    return common->empty() ? QStringLiteral("float") : QString::fromStdString(*common);
}

const std::vector<Rule>& Facts::outputRules(NodeId node) const
{
    static const std::vector<Rule> kNone;
    const auto it = m_outputRules.find(node);
    return it == m_outputRules.end() ? kNone : it->second;
}

QString Facts::outputQConfigText(std::span<const NodeId> nodes) const
{
    QStringList names;
    for (NodeId node : nodes)
        for (const Rule& rule : outputRules(node)) {
            const QString name = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name)
                                                     : QStringLiteral("float");
            if (!names.contains(name))
                names << name;
        }
    return names.join(QStringLiteral(", "));
}

QString Facts::decisionText(std::span<const NodeId> nodes, bool marked, const QString& word) const
{
    QString text = word.isEmpty() ? qconfigText(nodes) : word;
    if (const QString out = outputQConfigText(nodes); !out.isEmpty())
        text = text.isEmpty() ? QObject::tr("out %1").arg(out)
                              : QObject::tr("%1 · out %2").arg(text, out);
    return marked && isOverridden(nodes) ? text + QStringLiteral(" ✎") : text;
}

bool Facts::isOverridden(std::span<const NodeId> nodes) const
{
    return std::any_of(nodes.begin(), nodes.end(), [this](NodeId node) {
        const auto* decided = plan(node);
        return !outputRules(node).empty()
            || (decided && !decided->rule.fromBackend
                && decided->rule.kind >= RuleKind::ModuleName);
    });
}

} // namespace qs
