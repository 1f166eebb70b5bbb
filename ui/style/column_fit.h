// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

class QAbstractItemView;
class QHeaderView;

namespace qs {

/// Fits the columns of a table into its width: each has the width of its contents, one takes the
/// rest, and without room the least important are hidden. Follows the view's width. Owned by the
/// view. GUI thread only.
class ColumnFit : public QObject
{
public:
    /// `stretch`: the column that takes the rest: at least `least` pixels at 100 % while other
    /// columns can be hidden.
    ColumnFit(QAbstractItemView& view, QHeaderView& header, int stretch, double least);

    /// Sets the columns to show, and those of them that may be hidden, the least important first.
    /// If `dispensable` is empty, no column is hidden and the view scrolls.
    void setColumns(std::vector<int> shown, std::vector<int> dispensable);
    /// Fits the columns after contents changed.
    void fit();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    int wantedWidth(int column) const;
    int headWidth(int column) const;

    QAbstractItemView& m_view;
    QHeaderView& m_header;
    int m_stretch;
    double m_least;
    std::vector<int> m_shown, m_dispensable;
};

} // namespace qs
