// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>

#include <functional>
#include <string>

namespace qs {

/// Sorts a table by the numbers or texts under Qt::UserRole and filters its rows. Cells without a
/// value come last in both sort orders. GUI thread only.
class FigureProxy : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit FigureProxy(QAbstractItemModel& model, QObject* parent);
    /// Sets the filter, by source row; empty: all rows.
    void keep(std::function<bool(int)> wanted);

    /// Returns "12 nodes", or "3 of 12" if some are hidden.
    QString countText(const std::string& noun) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex&) const override;
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;

private:
    std::function<bool(int)> m_wanted;
};

} // namespace qs
