// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

#include <QString>

#include <vector>

class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;
class QCPItemTracer;

namespace qs {

/// The trials of the search for cures: SQNR over the share of int8 multiplications, a dot each. The
/// best is ringed, the goal is a rule, a line joins the trials that no other beats. A click on a
/// dot, or arrow keys and Return, take its recipe as one step. GUI thread only.
class FrontPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit FrontPlot(Workspace& workspace, QWidget* parent = nullptr);
    int dotCount() const { return m_shown; }
    /// The dot that keys and the pointer are on; -1 without one.
    int currentDot() const { return m_current; }
    /// The position of a dot in this widget's coordinates; for tests.
    QPoint dotPosition(int trial) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) final;

private:
    void refresh();
    void setRanges();
    void setCurrent(int trial);
    bool moveByKey(int key);
    int dotAt(const QPointF& point) const;
    QString dotText(int trial) const;
    void placeLabel();

    QCPGraph* m_front;
    QCPGraph* m_missed; ///< dots of trials below the goal
    QCPGraph* m_reached;
    QCPItemTracer* m_ring; ///< around the best
    QCPItemTracer* m_mark; ///< on the current dot
    QCPItemStraightLine* m_goal;
    QCPItemText* m_goalText;
    QCPItemStraightLine* m_least; ///< of the int8 multiplications
    QCPItemText* m_label;
    std::vector<int> m_order; ///< dots from left to right
    int m_shown = 0;
    int m_current = -1;
};

} // namespace qs
