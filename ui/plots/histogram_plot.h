// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCPBars;
class QCPGraph;
class QCPItemLine;
class QCPItemRect;
class QCPItemText;
class QCustomPlot;
class QLabel;

namespace qs {

class Workspace;

/// What the observer of the selected node's output saw: counts on a logarithmic scale, with the
/// range that quantization keeps and its steps drawn in. GUI thread only.
class HistogramPlot : public QWidget
{
    Q_OBJECT

public:
    explicit HistogramPlot(Workspace& workspace, QWidget* parent = nullptr);
    QString caption() const;
    /// Bars now shown; 0 when there is nothing to show.
    int barCount() const { return m_barCount; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void showRange(double low, double high, double beyond, double dataMin, double dataMax);
    void showSteps(double low, double step, double dataMin, double dataMax);

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    QLabel* m_caption;
    QLabel* m_footer;
    QLabel* m_empty;
    QCPBars* m_kept;
    QCPBars* m_beyond;
    QCPGraph* m_steps;
    QCPItemRect* m_shade[2];
    QCPItemLine* m_edge[2];
    QCPItemText* m_label;
    int m_barCount = 0;
    bool m_pending = false;
};

} // namespace qs
