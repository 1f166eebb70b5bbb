// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/key.h"
#include "engine/result/result_figures.h"
#endif

#include <QWidget>

#include <array>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace qs {

class CauseCell;
class Workspace;

/// What the int8 model is worth, in one line below the tool bar: output, accuracy, size, coverage,
/// the three worst nodes, the change against the result before. Amber while the recipe has moved
/// on: then a preview of a few samples says what the decisions as they stand do. A run that is
/// shown in place of the current result takes the strip over, in another colour and with its name.
/// Hidden without any of them. GUI thread only.
class ResultStrip : public QWidget
{
    Q_OBJECT

public:
    /// Of the comparison shown and of the one before it, for another strip to go on with.
    struct History
    {
        ComparisonPtr comparison;
        std::optional<ResultFigures> now, before; ///< `before` only where it is of the same data
        Key data; ///< that `now` was measured on, and against what
    };

    explicit ResultStrip(Workspace& workspace, QWidget* parent = nullptr);
    const History& history() const { return m_history; }
    void setHistory(const History& history);
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    /// A node was selected and wants to be seen in the graph.
    void revealWanted();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// A muted word and a figure.
    struct Cell
    {
        QWidget* box;
        QLabel* value;
    };
    Cell addCell(const QString& caption, const char* name, const QString& tip);
    void addWorst();
    void take();
    void count();
    void show();
    void showPreview();
    void showData();
    void showMark();
    void showWorst();
    /// Cells from the most to the least telling, as far as there is room.
    void fit();

    Workspace& m_workspace;
    History m_history;
    ResultFigures m_figures; ///< that are shown
    QHBoxLayout* m_row;
    QLabel* m_stale;
    QLabel* m_against;
    Cell m_preview, m_output, m_data, m_top1, m_agreement, m_size, m_coverage, m_trained, m_change;
    QWidget* m_worstBox = nullptr;
    std::array<QToolButton*, 3> m_worst {};
    std::array<NodeId, 3> m_worstNodes;
    CauseCell* m_cause;
};

} // namespace qs
