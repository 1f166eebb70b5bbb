// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/node_filter.h"
#endif

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QTextEdit;
class QTreeWidget;

namespace qs {

class FigureProxy;
class RunLibrary;
class RunTableModel;
class Workspace;

/// The runs that are kept, and two to four of them side by side: decisions in words, and one row a
/// node, sorted by any column, filtered by the search language, copied as CSV. GUI thread only.
class RunsPanel : public QWidget
{
    Q_OBJECT

public:
    RunsPanel(Workspace& workspace, RunLibrary& library, QWidget* parent = nullptr);
    /// The selected rows of the table, or all that are shown, as they stand.
    QString csv() const;
    /// Asks for a name and keeps the current result under it.
    void askToKeep();

Q_SIGNALS:
    /// A row was chosen: bring its node into view.
    void revealWanted();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildList();
    QWidget* buildTable();
    QPushButton* addButton(const char* name, const QString& text, const QString& tip,
                           void (RunsPanel::*work)());
    void showRuns();
    void showTable();
    void showLetters();
    void showColumns();
    void showButtons();
    void choose();
    void look(int row);
    void filter();
    QStringList chosen() const;
    QString currentFolder() const;
    void askName();
    void askNote();
    void askRemove();
    void askFile();
    void useDecisions();

    Workspace& m_workspace;
    RunLibrary& m_library;
    NodeFilter m_filter;
    QTreeWidget* m_list;
    QList<QPushButton*> m_buttons;
    RunTableModel* m_model;
    FigureProxy* m_proxy;
    std::vector<NodeId> m_nodes; ///< of the open model, by row of the table
    QLineEdit* m_field;
    QComboBox* m_term;
    QLabel* m_note;
    QTextEdit* m_recipes;
    QTableView* m_table;
};

} // namespace qs
