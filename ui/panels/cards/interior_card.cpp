// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/interior_card.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QTreeWidget>

namespace qs {

namespace {

enum Column
{
    NameColumn,
    ScaleColumn,
    ZeroColumn,
    SqnrColumn
};

constexpr int kShownRows = 9;

} // namespace

InteriorCard::InteriorCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Inside"), parent)
    , m_workspace(workspace)
    , m_tree(new QTreeWidget(this))
{
    setNames(*m_tree, "interiorTree", tr("Values inside the module"),
             tr("Choose a value to see its histogram. SQNR: int8 against float, dB"));
    m_tree->setColumnCount(4);
    m_tree->setHeaderLabels({tr("value"), tr("scale"), tr("zero"), QStringLiteral("SQNR")});
    const QString tips[] = {tr("The value inside the cell"), tr("The step between two integers"),
                            tr("The integer that means 0"), tr("int8 against float, dB")};
    for (int column = 0; column < 4; ++column)
        m_tree->headerItem()->setToolTip(column, tips[column]);
    for (const int column : {ScaleColumn, ZeroColumn, SqnrColumn})
        m_tree->headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    m_tree->setFont(monoFont(10.5));
    m_tree->setIndentation(12);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setUniformRowHeights(true);
    m_tree->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_tree->header()->setSectionResizeMode(NameColumn, QHeaderView::Stretch);
    m_tree->header()->setStretchLastSection(false);
    layout()->addWidget(m_tree);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (m_filling)
            return;
        const auto id = item ? item->data(NameColumn, Qt::UserRole).toUInt() : 0;
        m_workspace.selection().setInterior(ObserverId(id));
    });
    refresh();
}

void InteriorCard::refresh()
{
    const auto& facts = m_workspace.facts();
    const auto observers = facts.interiors(m_workspace.selection().current());
    setVisible(!observers.empty());
    m_filling = true;
    m_tree->clear();
    QTreeWidgetItem* cell = nullptr;
    QTreeWidgetItem* chosen = nullptr;
    int rows = 0;
    for (const PlannedObserver* observer : observers) {
        const QString path = QString::fromStdString(observer->interior);
        const QString cellPath = path.section(QLatin1Char('.'), 0, -2);
        if (!cell || cell->text(NameColumn) != cellPath) {
            cell = new QTreeWidgetItem(m_tree, {cellPath});
            cell->setFirstColumnSpanned(true);
            cell->setExpanded(true);
            ++rows;
        }
        auto* row = new QTreeWidgetItem(cell, {path.section(QLatin1Char('.'), -1)});
        row->setData(NameColumn, Qt::UserRole, observer->id.value());
        row->setToolTip(NameColumn, path);
        if (const QParams* params = facts.qparams(observer->id); params && !params->scale.empty()) {
            row->setText(ScaleColumn, QString::number(double(params->scale[0]), 'g', 4));
            row->setText(ZeroColumn, QString::number(params->zeroPoint.at(0)));
        }
        if (const auto db = facts.interiorSqnr(observer->weightOwner, observer->interior))
            row->setText(SqnrColumn, shownSqnr(*db, ""));
        for (const int column : {ScaleColumn, ZeroColumn, SqnrColumn})
            row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        if (observer->id == m_workspace.selection().interior())
            chosen = row;
        ++rows;
    }
    const int height = std::max(m_tree->sizeHintForRow(0), 16);
    m_tree->setFixedHeight(m_tree->header()->sizeHint().height()
                           + height * std::min(rows, kShownRows) + 4);
    m_tree->setCurrentItem(chosen);
    m_filling = false;
}

} // namespace qs
