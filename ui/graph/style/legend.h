// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"

#include <QWidget>

namespace qs {

/// The legend of the graph's colours, in a row below it: a scale, or the words for the colours,
/// then the style rules. Two handles narrow the scale: the colours spread over the values between
/// them, the rest of the graph is dimmed. Left and Right move the handle used last (Tab changes
/// it), a double click or Home gives the whole scale back. GUI thread only.
class Legend : public QWidget
{
    Q_OBJECT

public:
    explicit Legend(QWidget* parent);
    void setStyle(const GraphStyle& style);
    /// The available width: entries that do not fit into one row go on in the next.
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
    /// One placed item: the title, the scale, or an entry.
    struct Item
    {
        enum class Kind
        {
            Title,
            Scale,
            Entry
        };
        Kind kind;
        LegendEntry entry;
        QRect rect;
    };
    void paintScale(QPainter& p, const QRect& room);
    void paintItem(QPainter& p, const Item& item);
    QRectF bar() const;
    double measureAt(double share) const;
    /// Puts the handle in use at a share of the bar.
    void moveHandle(double share);
    void giveBack();
    bool fitsOneRow() const;
    void resizeToContents();
    int widthOf(const Item& item) const;

    std::vector<Item> m_items;
    ColourRamp m_ramp;
    ColourBy m_by = ColourBy::Verdict;
    bool m_scale = false;
    bool m_worstInUse = true;
    int m_room = 960;
    ScaleRange m_full, m_range;
};

} // namespace qs
