// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/samples/sample_table.h"

#include <QWidget>

class QComboBox;
class QTableView;

namespace qs {

class ConfusionModel;
class ElidedLabel;

/// The confusion matrix with the choice of its rows. A click, Enter or Space on a cell chooses its
/// samples, or all again. GUI thread only.
class ConfusionView : public QWidget
{
    Q_OBJECT

public:
    explicit ConfusionView(QWidget* parent);

    /// Null: nothing.
    void show(const ClassCounts* counts);
    /// Marks the chosen cell.
    void mark(const std::optional<ClassPair>& cell);
    /// Of all samples, not only of listed ones; 0 if the matrix does not show the cell.
    std::int64_t countOf(const ClassPair& cell) const;
    QTableView& table() { return *m_table; }

Q_SIGNALS:
    /// A cell with samples was chosen.
    void chosen(const qs::ClassPair& cell);
    /// The rows are of the other kind: a chosen cell is not shown any more.
    void rowsChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void choose(const QModelIndex& cell);

    std::optional<ClassCounts> m_counts;
    ConfusionModel* m_model;
    QComboBox* m_kind; ///< of the rows
    ElidedLabel* m_note;
    QTableView* m_table;
};

} // namespace qs
