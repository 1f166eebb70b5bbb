// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// moc of Qt 6.4 stumbles over the standard library's concepts.
#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include "ui/plots/plot_page.h"

#include <vector>

class QCPBars;
class QCPGraph;
class QCPItemText;

namespace qs {

/// SQNR of every measured node in graph order: a bar for the error born at the node, a line for the
/// cumulative error. Higher is worse. A click selects the node. GUI thread only.
class ErrorBarPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit ErrorBarPlot(Workspace& workspace, QWidget* parent = nullptr);
    int barCount() const { return int(m_nodes.size()); }
    /// The position of a bar in this widget's coordinates; for tests.
    QPoint barPosition(int index) const;
    /// The height of a bar in pixels; for tests.
    double barHeight(int index) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void leaveHeadroom() override;

private:
    void refresh();
    void placeLabel();
    void showSelection();
    void fillSelection();
    double height(double sqnr) const;

    std::vector<QCPBars*> m_buckets;
    QCPLayer* m_overlay; ///< layer of the items that follow the selection
    QCPBars* m_selected;
    QCPGraph* m_line;
    QCPItemText* m_label;
    QString m_words; ///< full text of `m_label`
    int m_labelled = 0; ///< the bar of `m_label`
    std::vector<NodeId> m_nodes;
    std::vector<double> m_born; ///< NaN if not measured
    double m_foot = 65; ///< SQNR at the foot of the bars
    double m_highest = 60; ///< of the bars and the line, above the foot
};

} // namespace qs
