// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <QWidget>

#include <vector>

namespace qs {

class Workspace;

/// The number of operators per verdict; a click selects them and filters the views by the verdict.
/// GUI thread only.
class VerdictList : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictList(Workspace& workspace, QWidget* parent = nullptr);
    /// The number of operators with a verdict in the current plan.
    int count(Verdict verdict) const;
    /// Returns the total number of operators, or, with a filter, the hint that shows all.
    QString summary() const;
    /// The rectangle of the verdict's row; empty without one.
    QRect rowRect(Verdict verdict) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, 60}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Row
    {
        Verdict verdict;
        std::vector<NodeId> nodes;
    };
    void refresh();
    int rowAt(int y) const;
    void choose(int row);

    Workspace& m_workspace;
    std::vector<Row> m_rows;
    int m_hover = -1;
    int m_total = 0; ///< operators
};

} // namespace qs
