// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_search.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

QString nodeText(const FoldEntry& entry, const Graph& graph)
{
    QString text = QString::fromStdString(entry.label + " " + entry.path);
    for (NodeId id : entry.members)
        if (const Node* node = graph.tryGet(id))
            text += QStringLiteral(" %1 %2").arg(QString::fromStdString(node->name),
                                                 QString::fromStdString(node->scope.path));
    return text;
}

bool hasOp(const FoldEntry& entry, const Graph& graph, const QString& op)
{
    return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
        const Node* node = graph.tryGet(id);
        return node && QString::fromStdString(node->target).contains(op, Qt::CaseInsensitive);
    });
}

bool matches(const FoldEntry& entry, const Facts& facts, const QString& term)
{
    static const QRegularExpression limit(QStringLiteral("^sqnr([<>])(-?\\d+(?:\\.\\d+)?)$"));
    const Graph& graph = *facts.model();
    if (const auto match = limit.match(term); match.hasMatch()) {
        const auto sqnr = facts.worstSqnr(entry.members, ErrorTerm::BornHere);
        const double bound = match.captured(2).toDouble();
        return sqnr && (match.captured(1) == QLatin1String("<") ? *sqnr < bound : *sqnr > bound);
    }
    const int colon = int(term.indexOf(QLatin1Char(':')));
    const QString key = term.left(colon), value = term.mid(colon + 1);
    if (colon > 0 && key == QLatin1String("op"))
        return hasOp(entry, graph, value);
    if (colon > 0 && key == QLatin1String("module"))
        return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
            const Node* node = graph.tryGet(id);
            return node && QString::fromStdString(node->scope.path).startsWith(value);
        });
    if (colon > 0 && key == QLatin1String("qconfig"))
        return facts.qconfigText(entry.members) == value;
    return nodeText(entry, graph).contains(term, Qt::CaseInsensitive);
}

} // namespace

std::vector<int> searchNodes(const FoldTree& tree, const Facts& facts, const QString& query)
{
    std::vector<int> out;
    const QStringList terms = query.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (terms.isEmpty() || !facts.model())
        return out;
    for (std::size_t i = 0; i < tree.entries().size(); ++i) {
        const auto& entry = tree.entries()[i];
        if (!entry.isModule() && std::all_of(terms.begin(), terms.end(), [&](const QString& term) {
                return matches(entry, facts, term);
            }))
            out.push_back(int(i));
    }
    std::sort(out.begin(), out.end(),
              [&](int a, int b) { return tree.entry(a).order < tree.entry(b).order; });
    return out;
}

} // namespace qs
