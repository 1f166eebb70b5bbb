// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/node_filter.h"
#endif

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;
class QTextEdit;

namespace qs {

class ColumnFit;
class ElidedLabel;
class FigureProxy;
class RunLibrary;
class RunTableModel;
class Workspace;

/// The runs side by side: the differing decisions as text, and a table with one row per node,
/// sorted by any column, filtered by the search language, copied as CSV. GUI thread only.
class RunComparison : public QWidget
{
    Q_OBJECT

public:
    RunComparison(Workspace& workspace, RunLibrary& library, QWidget* parent);
    /// The selected rows, else all visible rows, in their order.
    QString csv() const;

Q_SIGNALS:
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    void showTable();
    void showColumns();
    void inspect(int row);
    void filter();

    Workspace& m_workspace;
    RunLibrary& m_library;
    NodeFilter m_filter;
    RunTableModel* m_model;
    FigureProxy* m_proxy;
    std::vector<NodeId> m_nodes; ///< of the open model, by row of the table
    QLineEdit* m_field;
    QComboBox* m_term;
    ElidedLabel* m_note;
    QTextEdit* m_recipes;
    QTableView* m_table;
    ColumnFit* m_fit;
    QWidget* m_side; ///< all of the above
    QLabel* m_empty; ///< shown instead of `m_side` without runs side by side
};

} // namespace qs
