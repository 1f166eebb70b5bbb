// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/edge_list_card.h"

#include "ui/panels/cards/edge_card.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QListWidget>

namespace qs {

namespace {

constexpr int kShownEdges = 6;

} // namespace

EdgeListCard::EdgeListCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Edges"), parent)
    , m_workspace(workspace)
    , m_list(new QListWidget(this))
{
    setNames(*m_list, "edgeList", tr("Edges of the node"),
             tr("Enter or a click inspects the edge; E steps through them"));
    m_list->setFont(monoFont(10.5));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setUniformItemSizes(true);
    layout()->addWidget(m_list);
    const auto inspect = [this](QListWidgetItem* item) {
        const auto edges = edgesAround(m_workspace);
        if (const auto row = std::size_t(m_list->row(item)); row < edges.size())
            m_workspace.selection().setEdge(edges[row]);
    };
    connect(m_list, &QListWidget::itemClicked, this, inspect);
    connect(m_list, &QListWidget::itemActivated, this, inspect);
}

void EdgeListCard::refresh()
{
    m_list->clear();
    const auto& document = m_workspace.document();
    const auto edges = m_workspace.selection().isModule() || !document.plan()
        ? std::vector<Edge>()
        : edgesAround(m_workspace);
    setVisible(!edges.empty());
    if (edges.empty())
        return;
    const Graph& graph = *document.model();
    for (const Edge& edge : edges) {
        const bool reads = m_workspace.selection().contains(edge.reader.node);
        const EdgeFacts facts = edgeFacts(graph, *document.plan(), document.recipe(), edge);
        const PlannedObserver* observer = m_workspace.facts().observer(facts.observer);
        const bool byEdge = facts.won >= 0
            && facts.candidates[std::size_t(facts.won)].of == EdgeRuleCandidate::Of::Edge;
        const QString other = m_workspace.facts().title(reads ? edge.value.node : edge.reader.node);
        auto* item = new QListWidgetItem(
            QStringLiteral("%1 %2  %3%4")
                .arg(reads ? QStringLiteral("◂") : QStringLiteral("▸"), other,
                     observer ? specWords(m_workspace.facts(), *observer) : QStringLiteral("float"),
                     byEdge ? tr(" · edge rule") : QString()),
            m_list);
        item->setToolTip(QStringLiteral("%1\n%2").arg(
            edgeText(m_workspace.facts(), edge), m_workspace.facts().titled(toQString(facts.why))));
    }
    const int rows = std::min(int(edges.size()), kShownEdges);
    m_list->setFixedHeight(std::max(m_list->sizeHintForRow(0), 16) * rows + 4);
}

} // namespace qs
