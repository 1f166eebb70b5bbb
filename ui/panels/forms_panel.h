// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/execute/steps/step_counts.h"
#include "engine/graph/graph.h"
#endif

#include <QWidget>

class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

namespace qs {

class Workspace;
struct FormDeparture;

/// The lowered form compared with the reference form, node by node: differences in steps, of the
/// kernel alone and of the whole run, and why a node stayed in reference form. A click selects
/// the node. GUI thread only.
class FormsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit FormsPanel(Workspace& workspace, QWidget* parent = nullptr);

Q_SIGNALS:
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    enum Column : int
    {
        Name,
        Kernel,
        AloneEqual, ///< then mean and largest
        WholeEqual = AloneEqual + 3,
        ReferenceDb = WholeEqual + 3, ///< then lowered
        Reason = ReferenceDb + 2
    };
    void refresh();
    void showHeadline();
    void addRow(const Node& node, const QString& kernel, const StepCounts* alone,
                const FormDeparture* whole, const QString& reason);
    void choose(const QTreeWidgetItem* item);

    Workspace& m_workspace;
    QLabel* m_headline;
    QTreeWidget* m_rows;
};

} // namespace qs
