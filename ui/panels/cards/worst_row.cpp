// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/worst_row.h"

#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/session/worst_nodes.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QToolButton>

namespace qs {

WorstRow::WorstRow(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    auto* row = makeHBox(this, {}, 2);
    row->addWidget(makeMutedLabel(tr("Worst, born here"), 11.5, this));
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        auto* button = m_buttons[i] = new QToolButton(this);
        button->setObjectName(QStringLiteral("resultWorst%1").arg(i));
        button->setFont(uiFont(12, 600));
        button->setFocusPolicy(Qt::TabFocus);
        button->setCursor(Qt::PointingHandCursor);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        connect(button, &QToolButton::clicked, this, [this, i] {
            m_workspace.selectNode(m_nodes[i]);
            Q_EMIT revealWanted();
        });
        row->addWidget(button);
    }
}

QString WorstRow::words() const
{
    return m_buttons[0]->isHidden() ? QString() : m_buttons[0]->toolTip();
}

void WorstRow::refresh(bool isShown)
{
    const auto& facts = m_workspace.facts();
    const auto order = isShown && facts.model() && facts.comparison()
        ? worstFirst(*facts.comparison(), facts)
        : std::vector<NodeId>();
    const auto [best, worst] = facts.sqnrRange(ErrorTerm::BornHere);
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        QToolButton* button = m_buttons[i];
        button->setVisible(i < order.size());
        if (i >= order.size())
            continue;
        m_nodes[i] = order[i];
        const double sqnr = facts.sqnr(order[i], ErrorTerm::BornHere).value_or(0);
        const QString name = facts.title(order[i]);
        button->setText(QStringLiteral(" %1 %2").arg(
            QFontMetrics(button->font()).elidedText(name, Qt::ElideLeft, px(120)),
            shownSqnr(sqnr, "")));
        button->setToolTip(tr("%1: %2 born here; click selects it").arg(name, shownSqnr(sqnr)));
        button->setAccessibleName(tr("Select %1").arg(name));
        QPixmap swatch(px(8), px(8));
        swatch.fill(cividis((best - sqnr) / (best - worst)));
        button->setIcon(QIcon(swatch));
        button->setIconSize(swatch.size());
    }
}

} // namespace qs
