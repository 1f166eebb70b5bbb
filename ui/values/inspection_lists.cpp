// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/inspection_lists.h"

#include "engine/base/text.h"
#include "ui/models/metrics_model.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"
#include "ui/values/inspection_table.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

/// Draws a bar under the text with the length `kBarRole`.
class ShareDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const QVariant share = index.data(InspectionTable::kBarRole);
        if (share.isValid()) {
            QRectF bar(option.rect.adjusted(2, 3, -2, -3));
            bar.setWidth(bar.width() * std::clamp(share.toDouble(), 0.0, 1.0));
            painter->fillRect(bar, theme().accentSoft);
        }
        QStyledItemDelegate::paint(painter, option, index);
    }
};

} // namespace

InspectionLists::InspectionLists(QWidget* parent)
    : QWidget(parent)
    , m_table(new InspectionTable(this))
    , m_sorted(new QSortFilterProxyModel(this))
{
    m_list = new QComboBox(this);
    setNames(*m_list, "valuesList", tr("List"));
    m_list->setFont(uiFont(11));
    m_copy = makeButton("valuesCopy", tr("Copy as CSV"),
                        tr("Copy the selected rows, or all (Ctrl+C in the table)"), this);
    m_copy->setFont(uiFont(11));
    m_sorted->setSourceModel(m_table);
    m_sorted->setSortRole(Qt::UserRole);
    m_rows = new QTableView(this);
    setNames(*m_rows, "valuesTable", tr("Errors by channel or sample"));
    m_rows->setModel(m_sorted);
    m_rows->setItemDelegate(new ShareDelegate(m_rows));
    setUpTable(*m_rows, 19);
    m_rows->sortByColumn(1, Qt::AscendingOrder); // the worst first
    auto* top = new QHBoxLayout;
    addItems(*top, {{m_list, 1}, m_copy});
    addItems(*makeVBox(this, {}, 4), {top, {m_rows, 1}});
    setMinimumWidth(px(200));
    connect(m_list, &QComboBox::currentIndexChanged, this, &InspectionLists::showTable);
    connectCopy(*m_copy, *m_rows, [this] { return csv(); });
    connectChosen(*m_rows,
                  [this](const QModelIndex& index) { goTo(m_sorted->mapToSource(index).row()); });
    setFocusProxy(m_rows);
}

void InspectionLists::show(const ValueInspectionPtr& inspection, bool isStale)
{
    m_inspection = inspection;
    fillList();
    m_rows->setEnabled(!isStale);
}

void InspectionLists::fillList()
{
    const auto& inspection = m_inspection;
    QStringList lists;
    if (inspection) {
        const auto outliers = std::count_if(
            inspection->channels.begin(), inspection->channels.end(),
            [](const ChannelError& channel) { return channel.isWide || channel.isNoisy; });
        lists << QStringLiteral("%1%2").arg(
            toQString(counted(std::int64_t(inspection->channels.size()), "channel")),
            outliers ? QStringLiteral(", %1").arg(toQString(counted(outliers, "outlier")))
                     : QString());
        lists << (inspection->samples.empty()
                      ? tr("no separate samples here")
                      : toQString(counted(inspection->sampleCount, "sample")));
        for (const WeightInspection& weight : inspection->weights)
            lists << QStringLiteral("%1 · %2").arg(
                toQString(weight.name),
                weight.error.sqnrDb ? shownSqnr(*weight.error.sqnrDb, " dB", 2) : tr("no signal"));
    }
    QStringList shown;
    for (int i = 0; i < m_list->count(); ++i)
        shown << m_list->itemText(i);
    if (shown != lists) {
        const QSignalBlocker quiet(m_list);
        const int at = m_list->currentIndex();
        m_list->clear();
        m_list->addItems(lists);
        m_list->setCurrentIndex(std::clamp(at, 0, std::max(0, int(lists.size()) - 1)));
    }
    m_list->setEnabled(inspection != nullptr);
    m_copy->setEnabled(inspection != nullptr);
    showTable();
}

void InspectionLists::showTable()
{
    const int at = std::max(0, m_list->currentIndex());
    const auto list = at == 0 ? InspectionTable::List::Channels
        : at == 1             ? InspectionTable::List::Samples
                              : InspectionTable::List::Weight;
    const bool isOther = list != m_table->list()
        || m_rows->horizontalHeader()->sortIndicatorSection() < 0
        || m_rows->horizontalHeader()->sortIndicatorSection() >= m_table->columnCount();
    m_table->show(m_inspection, list, std::size_t(std::max(0, at - 2)));
    if (isOther)
        m_rows->sortByColumn(1, Qt::AscendingOrder); // the worst first
    static constexpr int kWidths[] = {72, 56, 96, 78};
    for (int column = 0; column < m_table->columnCount(); ++column)
        m_rows->setColumnWidth(column, px(column < 4 ? kWidths[column] : 70));
}

void InspectionLists::goTo(int row)
{
    if (m_table->list() == InspectionTable::List::Samples)
        Q_EMIT sampleWanted(int(m_table->sampleOf(row)));
    else if (m_table->list() == InspectionTable::List::Channels)
        Q_EMIT channelWanted(*m_table->channelOf(row));
}

QString InspectionLists::csv() const
{
    return csvOfChosen(*m_sorted, *m_rows->selectionModel());
}

} // namespace qs
