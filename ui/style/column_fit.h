// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

class QAbstractItemView;
class QHeaderView;

namespace qs {

/// Keeps the columns of a table within its width: each as wide as its contents, one takes what is
/// left, and without room the least important are hidden. Follows the view's width;
/// belongs to the view. GUI thread only.
class ColumnFit : public QObject
{
public:
    /// `stretch` takes what is left, `least` pixels at 100 % or more while there is something to
    /// leave out.
    ColumnFit(QAbstractItemView& view, QHeaderView& header, int stretch, double least);

    /// The columns to show, and those of them that may be hidden, the least important first.
    /// Without any of these no column is hidden, and the view scrolls.
    void setColumns(std::vector<int> shown, std::vector<int> dispensable);
    /// Contents have changed.
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
