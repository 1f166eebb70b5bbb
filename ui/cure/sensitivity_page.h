// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QPushButton;
class QStackedWidget;
class QTableView;

namespace qs {

class ColumnFit;
class ElidedLabel;
class FigureProxy;
class NoCauses;
class SensitivityModel;
class SensitivityPlot;
class Workspace;

/// The Sensitivity page: every unit with its share of the outputs' noise, the gain if it alone were
/// float, and its share of the multiplications, as a table and as a plot. GUI thread only.
class SensitivityPage : public QWidget
{
    Q_OBJECT

public:
    explicit SensitivityPage(Workspace& workspace, QWidget* parent = nullptr);

Q_SIGNALS:
    /// Nodes were selected: bring them into view.
    void revealWanted();
    void calibrateWanted();
    void findWanted();

protected:
    bool eventFilter(QObject* watched, QEvent* event) final;

private:
    QWidget* buildUnits(QWidget* parent);
    void buildTable();
    void refresh();
    void takeRows();
    void showSelection();

    Workspace& m_workspace;
    SensitivityModel* m_units;
    FigureProxy* m_proxy;
    QStackedWidget* m_stack; ///< the empty state, or the units
    NoCauses* m_empty;
    ElidedLabel* m_note;
    QPushButton* m_again; ///< finds the causes again
    QTableView* m_table;
    ColumnFit* m_fit;
    bool m_isShowing = false; ///< the rows follow the selection
};

} // namespace qs
