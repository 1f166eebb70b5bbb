// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

class QCPGraph;
class QCPItemText;
class QCPItemTracer;

namespace qs {

struct Training;

/// The guard's SQNR and the loss of a training by step, with its best step marked; follows the
/// workspace's training while it runs. GUI thread only.
class TrainingPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit TrainingPlot(Workspace& workspace, QWidget* parent = nullptr);
    int pointCount() const;
    /// The step that is marked; -1 without points.
    int markedStep() const { return m_best; }

protected:
    void leaveHeadroom() final;

private:
    void refresh();
    void setRanges(const Training& training);
    void placeBest(const Training& training);

    QCPGraph* m_guard;
    QCPGraph* m_loss;
    QCPItemTracer* m_mark;
    QCPItemText* m_label;
    int m_shown = -1; ///< points that are drawn
    int m_best = -1;
    double m_lowest = 0, m_highest = 1; ///< dB
};

} // namespace qs
