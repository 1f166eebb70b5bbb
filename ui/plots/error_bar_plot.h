// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// moc of Qt 6.4 stumbles over the standard library's concepts.
#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include <QWidget>

#include <vector>

class QCPBars;
class QCPGraph;
class QCPItemText;
class QCustomPlot;
class QLabel;

namespace qs {

class Workspace;

/// SQNR of every measured node in graph order: a bar for what is born at the node, a line for what
/// has gathered up to it. Higher is worse. A click selects the node. GUI thread only.
class ErrorBarPlot : public QWidget
{
    Q_OBJECT

public:
    explicit ErrorBarPlot(Workspace& workspace, QWidget* parent = nullptr);
    int barCount() const { return int(m_nodes.size()); }
    /// Where a bar stands, in this widget's coordinates; for tests.
    QPoint barPosition(int index) const;
    /// Nodes from the worst to the best.
    std::vector<NodeId> worstFirst() const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void showSelection();
    double height(double sqnr) const;

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    QLabel* m_caption;
    QLabel* m_empty;
    std::vector<QCPBars*> m_buckets;
    QCPBars* m_selected;
    QCPGraph* m_line;
    QCPItemText* m_label;
    std::vector<NodeId> m_nodes;
    std::vector<double> m_born; ///< NaN where it was not measured
    double m_top = 60; ///< SQNR at the foot of the bars
    bool m_pending = false;
};

} // namespace qs
