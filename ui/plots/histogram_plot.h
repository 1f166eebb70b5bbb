// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

class QCPBars;
class QCPGraph;
class QCPItemLine;
class QCPItemRect;
class QCPItemText;

namespace qs {

/// What the observer of the selected node's output saw: counts on a logarithmic scale, with the
/// range that quantization keeps and its steps drawn in. GUI thread only.
class HistogramPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit HistogramPlot(Workspace& workspace, QWidget* parent = nullptr);
    /// Bars now shown; 0 when there is nothing to show.
    int barCount() const { return m_barCount; }

protected:
    void leaveHeadroom() override;

private:
    void refresh();
    void showRange(double low, double high, double beyond, double dataMin, double dataMax);
    void showSteps(double low, double step, double dataMin, double dataMax);

    ElidedLabel* m_footer;
    QCPBars* m_kept;
    QCPBars* m_beyond;
    QCPGraph* m_steps;
    QCPItemRect* m_shade[2];
    QCPItemLine* m_edge[2];
    QCPItemText* m_label;
    bool m_labelled = false; ///< there is a range to name, where there is room for it
    int m_barCount = 0;
    double m_peak = 1; ///< the highest count shown
};

} // namespace qs
