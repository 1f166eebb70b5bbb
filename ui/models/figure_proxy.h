// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>

#include <functional>
#include <string>

namespace qs {

/// Sorts a table of figures by the numbers under Qt::UserRole, words by themselves, and keeps the
/// rows that are wanted; cells without a value come last either way. GUI thread only.
class FigureProxy : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit FigureProxy(QAbstractItemModel& model, QObject* parent);
    /// Whether a row of the source is shown; nothing: all rows.
    void keep(std::function<bool(int)> wanted);

    /// "12 nodes", or "3 of 12" where not all are shown.
    QString countText(const std::string& noun) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex&) const override;
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;

private:
    std::function<bool(int)> m_wanted;
};

} // namespace qs
