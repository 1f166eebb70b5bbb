// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/verdict_list.h"

#include "engine/base/text.h"
#include "engine/plan/summaries/coverage.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <map>

namespace qs {

namespace {

int verdictTop()
{
    return px(34);
}

int verdictRow()
{
    return px(20);
}

} // namespace

VerdictList::VerdictList(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("verdictList"));
    setMouseTracking(true);
    setToolTip(tr("Click a verdict to show only its operators; again to show all"));
    setAccessibleName(tr("Verdicts"));
    setFocusPolicy(Qt::TabFocus);
    connect(&workspace, &Workspace::factsChanged, this, &VerdictList::refresh);
    connect(&workspace, &Workspace::filterChanged, this, qOverload<>(&QWidget::update));
    refresh();
}

void VerdictList::refresh()
{
    std::map<Verdict, std::vector<NodeId>> found;
    m_total = 0;
    if (const auto& plan = m_workspace.document().plan()) {
        m_total = coverageOf(*plan).total;
        for (const auto& node : plan->nodes)
            if (node.verdict != Verdict::NotApplicable)
                found[node.verdict].push_back(node.node);
    }
    m_rows.clear();
    for (auto& [verdict, nodes] : found)
        m_rows.push_back({verdict, std::move(nodes)});
    const auto& filter = m_workspace.verdictFilter();
    if (filter && m_workspace.facts().hasPlan() && count(*filter) == 0)
        m_workspace.setVerdictFilter({}); // the filter would hide everything
    setFixedHeight(sizeHint().height());
    update();
}

int VerdictList::count(Verdict verdict) const
{
    for (const auto& row : m_rows)
        if (row.verdict == verdict)
            return int(row.nodes.size());
    return 0;
}

QString VerdictList::summary() const
{
    if (m_workspace.verdictFilter())
        return tr("show all");
    return m_total > 0 ? toQString(counted(m_total, "operator")) : QString();
}

QSize VerdictList::sizeHint() const
{
    return {260, verdictTop() + verdictRow() * std::max(int(m_rows.size()), 2) + 12};
}

int VerdictList::rowAt(int y) const
{
    const int row = (y - verdictTop()) / verdictRow();
    return y >= verdictTop() && row < int(m_rows.size()) ? row : -1;
}

void VerdictList::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.fillRect(rect(), t.panel);
    p.setPen(t.text);
    p.setFont(uiFont(12.5, 600));
    p.drawText(QRect(14, px(4), width(), px(28)), Qt::AlignLeft | Qt::AlignVCenter, tr("Verdicts"));
    const auto& filter = m_workspace.verdictFilter();
    p.setPen(filter ? t.accent : t.muted);
    p.setFont(uiFont(11));
    p.drawText(QRect(0, px(4), width() - 12, px(28)), Qt::AlignRight | Qt::AlignVCenter, summary());
    int y = verdictTop();
    for (std::size_t i = 0; i < m_rows.size(); ++i, y += verdictRow()) {
        if (filter == m_rows[i].verdict)
            p.fillRect(QRect(0, y, width(), verdictRow()), t.accentSoft);
        else if (int(i) == m_hover)
            p.fillRect(QRect(0, y, width(), verdictRow()), t.window);
        p.setPen(Qt::NoPen);
        p.setBrush(verdictColor(m_rows[i].verdict));
        p.drawRoundedRect(QRectF(16, y + px(5), px(10), px(10)), 2, 2);
        p.setPen(t.text);
        p.setFont(uiFont(12));
        const QRect words(px(34), y, width() - px(80), verdictRow());
        p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                   p.fontMetrics().elidedText(verdictText(m_rows[i].verdict), Qt::ElideRight,
                                              words.width()));
        p.setPen(t.muted);
        p.setFont(monoFont(11));
        p.drawText(QRect(0, y, width() - 12, verdictRow()), Qt::AlignRight | Qt::AlignVCenter,
                   QString::number(m_rows[i].nodes.size()));
    }
}

QRect VerdictList::rowRect(Verdict verdict) const
{
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i].verdict == verdict)
            return {0, verdictTop() + int(i) * verdictRow(), width(), verdictRow()};
    return {};
}

void VerdictList::choose(int row)
{
    if (row < 0 || m_workspace.verdictFilter() == m_rows[std::size_t(row)].verdict) {
        m_workspace.setVerdictFilter({});
        return;
    }
    m_workspace.setVerdictFilter(m_rows[std::size_t(row)].verdict);
    m_workspace.selection().selectNodes(m_rows[std::size_t(row)].nodes);
}

void VerdictList::mousePressEvent(QMouseEvent* event)
{
    const int row = rowAt(event->pos().y());
    if (row >= 0 || event->pos().y() < verdictTop())
        choose(row);
}

void VerdictList::keyPressEvent(QKeyEvent* event)
{
    // Up and Down go through the verdicts; beyond either end the filter is cleared.
    if (event->key() != Qt::Key_Down && event->key() != Qt::Key_Up) {
        QWidget::keyPressEvent(event);
        return;
    }
    int at = -1;
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_workspace.verdictFilter() == m_rows[i].verdict)
            at = int(i);
    const int rows = int(m_rows.size());
    const int next = event->key() == Qt::Key_Down ? at + 1 : (at < 0 ? rows - 1 : at - 1);
    choose(next < rows ? next : -1);
}

void VerdictList::mouseMoveEvent(QMouseEvent* event)
{
    m_hover = rowAt(event->pos().y());
    setCursor(m_hover >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
}

void VerdictList::leaveEvent(QEvent*)
{
    m_hover = -1;
    update();
}

} // namespace qs
