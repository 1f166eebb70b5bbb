// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/figure_proxy.h"

#include "engine/base/text.h"
#include "ui/session/text.h"

namespace qs {

FigureProxy::FigureProxy(QAbstractItemModel& model, QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSourceModel(&model);
    setSortRole(Qt::UserRole);
}

void FigureProxy::keep(std::function<bool(int)> wanted)
{
    m_wanted = std::move(wanted);
    invalidateFilter();
}

QString FigureProxy::countText(const std::string& noun) const
{
    const int shown = rowCount(), all = sourceModel()->rowCount();
    return shown == all ? toQString(counted(all, noun)) : tr("%1 of %2").arg(shown).arg(all);
}

bool FigureProxy::filterAcceptsRow(int row, const QModelIndex&) const
{
    return !m_wanted || m_wanted(row);
}

bool FigureProxy::lessThan(const QModelIndex& a, const QModelIndex& b) const
{
    const QVariant left = a.data(Qt::UserRole), right = b.data(Qt::UserRole);
    if (left.isValid() != right.isValid())
        return sortOrder() == Qt::AscendingOrder ? left.isValid() : right.isValid();
    if (left.typeId() == QMetaType::Double)
        return left.toDouble() < right.toDouble();
    return left.toString() < right.toString();
}

} // namespace qs
