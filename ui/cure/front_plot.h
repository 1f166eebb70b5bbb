// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/plots/dot_plot.h"
#include "ui/session/cure/cure_search.h"
#endif

#include <QString>

#include <vector>

class QCPCurve;
class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;
class QCPItemTracer;

namespace qs {

/// The trials of the search for cures: SQNR over the share of int8 multiplications, a dot each. The
/// best is ringed, the goal is a rule, a line joins the trials that no other beats. Before the
/// first trial, once causes are known, a line shows what float operators are predicted to give. A
/// click on a dot, or arrow keys and Return, take its recipe as one step. GUI thread only.
class FrontPlot : public DotPlot
{
    Q_OBJECT

public:
    explicit FrontPlot(Workspace& workspace, QWidget* parent = nullptr);
    /// The dot that keys and the pointer are on; -1 without one.
    int currentDot() const { return m_current; }
    /// Number of points of the predicted line; for tests.
    int predictedCount() const { return int(prediction().size()); }

private:
    void refresh();
    /// Goal and share of the search; before one, those chosen for the next.
    CureChoices wanted() const;
    const std::vector<PredictedPoint>& prediction() const;
    void showPredicted();
    void setRanges();
    void setCurrent(int trial);
    int keyDot() const final { return m_current; }
    void pointAt(int dot) final;
    void moveTo(int dot) final;
    void choose(int dot) final;
    QString dotText(int trial) const;
    void placeLabel();

    QCPCurve* m_predicted;
    QCPItemText* m_predictedText;
    QCPGraph* m_front;
    QCPGraph* m_missed; ///< dots of trials below the goal
    QCPGraph* m_reached;
    QCPItemTracer* m_ring; ///< around the best
    QCPItemTracer* m_mark; ///< on the current dot
    QCPItemStraightLine* m_goal;
    QCPItemText* m_goalText;
    QCPItemStraightLine* m_least; ///< of the int8 multiplications
    QCPItemText* m_label;
    int m_current = -1;
};

} // namespace qs
