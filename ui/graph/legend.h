// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_style.h"

#include <QWidget>

namespace qs {

/// What the colours of the graph mean: a scale, or the words behind the colours, and below them the
/// style rules. Two handles narrow
/// the scale: the colours spread over what lies between, the rest of the graph stands back. Left
/// and Right move the handle used last (Tab changes it), a double click or Home gives the whole
/// scale back. GUI thread only.
class Legend : public QWidget
{
    Q_OBJECT

public:
    explicit Legend(QWidget* parent);
    void setStyle(const GraphStyle& style);
    /// The width of the pane it lies on: a narrow pane gets a narrow scale.
    void setRoom(int width);
    /// Where a handle stands, in this widget's coordinates.
    QPointF handleAt(bool worst) const;

Q_SIGNALS:
    /// The user chose a part of the scale; the whole of it when `whole`.
    void rangeChosen(const qs::ScaleRange& range, bool whole);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool focusNextPrevChild(bool next) override;

private:
    void paintScale(QPainter& p);
    QRectF bar() const;
    double measureAt(double share) const;
    /// Puts the handle in use at a share of the bar.
    void moveHandle(double share);
    void giveBack();
    void resizeToContents();
    int titleHeight() const;

    /// Words with a swatch each, from `y` down.
    void paintEntries(QPainter& p, const std::vector<LegendEntry>& entries, int y);

    std::vector<LegendEntry> m_entries, m_rules;
    QString m_title;
    ColourRamp m_ramp;
    ColourBy m_by = ColourBy::Verdict;
    bool m_scale = false;
    bool m_worstInUse = true;
    int m_room = 960;
    ScaleRange m_full, m_range;
};

} // namespace qs
