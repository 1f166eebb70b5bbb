// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/key.h"
#include "engine/result/result_figures.h"
#endif

#include <QWidget>

class QHBoxLayout;
class QLabel;

namespace qs {

class CauseCell;
class WorstRow;
class Workspace;

/// The quality of the int8 model in one line below the tool bar: output, accuracy, size, coverage,
/// the three worst nodes, the change against the previous result. Amber if the result is stale: a
/// preview on a few samples then shows the effect of the current decisions. A saved run that is
/// shown instead of the current result fills the strip, in another colour and with its name. Hidden
/// without any result. GUI thread only.
class ResultStrip : public QWidget
{
    Q_OBJECT

public:
    /// Figures of the shown comparison and the previous one, to pass on to another strip.
    struct History
    {
        ComparisonPtr comparison;
        std::optional<ResultFigures> now, before; ///< `before` only for the same data
        Key data; ///< key of the data and the float side of `now`
    };

    explicit ResultStrip(Workspace& workspace, QWidget* parent = nullptr);
    const History& history() const { return m_history; }
    void setHistory(const History& history);
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    /// A node was selected: bring it into view in the graph.
    void revealWanted();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// A muted caption with a figure.
    struct Cell
    {
        QWidget* box;
        QLabel* value;
    };
    Cell addCell(const QString& caption, const char* name, const QString& tip);
    void take();
    void count();
    void show();
    void showPreview();
    QString metricCellText() const;
    void showData();
    void showMark();
    /// Shows as many cells as fit, the most important first.
    void fit();

    Workspace& m_workspace;
    History m_history;
    ResultFigures m_figures; ///< the shown ones
    QHBoxLayout* m_row;
    QLabel* m_stale;
    QLabel* m_against;
    Cell m_preview, m_output, m_data, m_metric, m_top1, m_agreement, m_size, m_coverage, m_trained,
        m_change;
    WorstRow* m_worst;
    CauseCell* m_cause;
};

} // namespace qs
