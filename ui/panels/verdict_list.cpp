// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/verdict_list.h"

#include "ui/session/workspace.h"
#include "ui/shell/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <map>

namespace qs {

namespace {

constexpr int kTop = 34, kVerdictRow = 20;

} // namespace

VerdictList::VerdictList(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("verdictList"));
    setMouseTracking(true);
    setToolTip(QStringLiteral("Click a verdict to select its operators"));
    connect(&workspace, &Workspace::factsChanged, this, &VerdictList::refresh);
    refresh();
}

void VerdictList::refresh()
{
    std::map<Verdict, std::vector<NodeId>> found;
    if (const auto& plan = m_workspace.document().plan())
        for (const auto& node : plan->nodes)
            if (node.verdict != Verdict::NotApplicable)
                found[node.verdict].push_back(node.node);
    m_rows.clear();
    for (auto& [verdict, nodes] : found)
        m_rows.push_back({verdict, std::move(nodes)});
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

QSize VerdictList::sizeHint() const
{
    return {260, kTop + kVerdictRow * std::max(int(m_rows.size()), 4) + 12};
}

int VerdictList::rowAt(int y) const
{
    const int row = (y - kTop) / kVerdictRow;
    return y >= kTop && row < int(m_rows.size()) ? row : -1;
}

void VerdictList::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.fillRect(rect(), t.panel);
    p.setPen(t.text);
    p.setFont(uiFont(12.5, 600));
    p.drawText(QRect(14, 4, width(), 28), Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("Verdicts"));
    int y = kTop;
    for (std::size_t i = 0; i < m_rows.size(); ++i, y += kVerdictRow) {
        if (int(i) == m_hover)
            p.fillRect(QRect(0, y, width(), kVerdictRow), t.window);
        p.setPen(Qt::NoPen);
        p.setBrush(verdictColor(m_rows[i].verdict));
        p.drawRoundedRect(QRectF(16, y + 5, 10, 10), 2, 2);
        p.setPen(t.text);
        p.setFont(uiFont(12));
        p.drawText(QRect(34, y, width() - 90, kVerdictRow), Qt::AlignLeft | Qt::AlignVCenter,
                   verdictText(m_rows[i].verdict));
        p.setPen(t.muted);
        p.setFont(monoFont(11));
        p.drawText(QRect(0, y, width() - 12, kVerdictRow), Qt::AlignRight | Qt::AlignVCenter,
                   QString::number(m_rows[i].nodes.size()));
    }
}

void VerdictList::mousePressEvent(QMouseEvent* event)
{
    const int row = rowAt(event->pos().y());
    if (row >= 0)
        m_workspace.selection().selectNodes(m_rows[std::size_t(row)].nodes);
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
