// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/cure_list.h"

#include "engine/base/text.h"
#include "ui/cure/proposed_cures.h"
#include "ui/session/text.h"
#include "ui/style/column_fit.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QSignalBlocker>

namespace qs {

namespace {

enum CureColumn
{
    TextColumn,
    GainColumn,
    CostColumn
};

/// "+3.2 dB measured", "≤ +4.0 dB predicted"
QString gainCell(const ProposedCure& cure)
{
    const double gain = cure.measuredDb.value_or(cure.predictedDb);
    const QString figure = QStringLiteral("%1%2 dB").arg(QString::fromLatin1(gain < 0 ? "" : "+"),
                                                         toQString(fixedText(gain, 1)));
    if (cure.measuredDb)
        return QObject::tr("%1 measured").arg(figure);
    return cure.isMost ? QObject::tr("≤ %1 predicted").arg(figure)
                       : QObject::tr("%1 predicted").arg(figure);
}

} // namespace

CureList::CureList(ProposedCures& cures, QWidget* parent)
    : QTreeWidget(parent)
    , m_cures(cures)
{
    setNames(*this, "cureList", tr("Cures of the chosen cause"),
             tr("A tick makes the cure a decision: one step of the history"));
    setColumnCount(3);
    setHeaderHidden(true);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setMinimumHeight(px(44));
    m_fit = new ColumnFit(*this, *header(), TextColumn, 110);
    connect(this, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem* row, int column) {
        if (column == TextColumn)
            m_cures.setOn(std::size_t(indexOfTopLevelItem(row)),
                          row->checkState(TextColumn) == Qt::Checked);
    });
    const auto tryOut = [this](QTreeWidgetItem* row) {
        if (row)
            m_cures.tryOut(std::size_t(indexOfTopLevelItem(row)));
    };
    connect(this, &QTreeWidget::itemEntered, this, tryOut);
    connect(this, &QTreeWidget::currentItemChanged, this, tryOut);
    connect(&cures, &ProposedCures::changed, this, &CureList::refresh);
    refresh();
}

void CureList::leaveEvent(QEvent* event)
{
    QTreeWidget::leaveEvent(event);
    if (!hasFocus())
        m_cures.stopTrying();
}

void CureList::refresh()
{
    const QSignalBlocker quiet(this); // filling the list must not change decisions
    QStringList texts;
    for (const ProposedCure& cure : m_cures.rows())
        texts << cure.text;
    if (texts != m_shown) {
        m_shown = texts;
        clear();
        for (const QString& text : texts)
            new QTreeWidgetItem(this, {text});
    }
    for (int i = 0; i < topLevelItemCount(); ++i) {
        const ProposedCure& cure = m_cures.rows()[std::size_t(i)];
        QTreeWidgetItem& row = *topLevelItem(i);
        row.setCheckState(TextColumn, cure.isOn ? Qt::Checked : Qt::Unchecked);
        QFont font = this->font();
        font.setWeight(cure.measuredDb ? QFont::DemiBold : QFont::Normal);
        row.setText(GainColumn, gainCell(cure));
        row.setFont(GainColumn, font);
        row.setForeground(GainColumn, cure.measuredDb ? theme().text : theme().muted);
        row.setToolTip(GainColumn,
                       cure.measuredDb
                           ? tr("Measured at the outputs by a preview of a few samples")
                           : tr("Predicted from the share, if this cure alone is added"));
        row.setText(CostColumn, cure.cost);
        row.setToolTip(CostColumn, tr("What the cure costs at run time"));
        row.setToolTip(TextColumn, tr("%1; cost: %2").arg(cure.text, cure.cost));
    }
    m_fit->setColumns({TextColumn, GainColumn, CostColumn}, {CostColumn});
}

} // namespace qs
