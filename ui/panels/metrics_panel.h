// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/node_filter.h"
#endif

#include <QWidget>

class QLabel;
class QLineEdit;
class QTableView;

namespace qs {

class FigureProxy;
class MetricsModel;
class Workspace;

/// All metrics of all measured nodes as one table: sorted by any column, filtered by the search
/// language, copied as CSV. Choosing a row selects the node. GUI thread only.
class MetricsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit MetricsPanel(Workspace& workspace, QWidget* parent = nullptr);
    /// The selected rows, else all visible rows, in their order.
    QString csv() const;

Q_SIGNALS:
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    void refresh();
    void filter();

    Workspace& m_workspace;
    NodeFilter m_filter;
    MetricsModel* m_model;
    FigureProxy* m_proxy;
    QLineEdit* m_field;
    QLabel* m_note;
    QTableView* m_table;
};

} // namespace qs
