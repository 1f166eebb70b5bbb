// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/summaries/replacements.h"
#endif

#include <QDialog>

class QLabel;
class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace qs {

class Workspace;

/// The modules that replace the model's operators under the plan, before any data runs: one line
/// each, with a switch that keeps the operators unchanged. Each switch is one undoable step of the
/// recipe, and the list follows the plan. GUI thread only.
class ReplacementsDialog : public QDialog
{
    Q_OBJECT

public:
    ReplacementsDialog(Workspace& workspace, QWidget* parent);

private:
    void refresh();
    void showRow(QTreeWidgetItem& item, const Replacement& row);
    void onToggled(QTreeWidgetItem* item);
    void applyFilter();

    Workspace& m_workspace;
    std::vector<Replacement> m_rows; ///< by row of the list
    QLineEdit* m_filter;
    QTreeWidget* m_list;
    QLabel* m_count;
};

} // namespace qs
