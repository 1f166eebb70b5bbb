// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/values/value_inspection.h"
#endif

#include <QWidget>

class QComboBox;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace qs {

class InspectionTable;

/// The lists of an inspection, one at a time: channels, samples, channels of each weight, each with
/// the worst first. GUI thread only.
class InspectionLists : public QWidget
{
    Q_OBJECT

public:
    explicit InspectionLists(QWidget* parent);

    /// Shows an inspection; null: none. A stale one cannot be clicked.
    void show(const ValueInspectionPtr& inspection, bool isStale);
    /// The list as CSV: the selected rows, or all.
    QString csv() const;

Q_SIGNALS:
    void sampleWanted(int sample);
    void channelWanted(const qs::ChannelError& channel);

private:
    void fillList();
    void showTable();
    void goTo(int row);

    ValueInspectionPtr m_inspection;
    InspectionTable* m_table;
    QSortFilterProxyModel* m_sorted;
    QComboBox* m_list;
    QTableView* m_rows;
    QPushButton* m_copy;
};

} // namespace qs
