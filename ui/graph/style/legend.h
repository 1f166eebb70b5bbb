// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"

#include <QWidget>

namespace qs {

/// The legend of the graph's colours, in a row below it: a scale, or the colours with their
/// meanings, then the style rules. Two handles narrow the scale: the colours cover the values
/// between them, and nodes outside are dimmed. Left and Right move the active handle (Tab switches
/// it). A double click or Home restores the whole scale. GUI thread only.
class Legend : public QWidget
{
    Q_OBJECT

public:
    explicit Legend(QWidget* parent);
    void setStyle(const GraphStyle& style);
    /// Sets the available width: entries that do not fit into one row continue in the next.
    void setRoom(int width);
    /// The position of a handle in this widget's coordinates.
    QPointF handleAt(bool worst) const;

Q_SIGNALS:
    /// The user chose a part of the scale; `whole`: all of it.
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
    /// Moves the active handle to a share of the bar's length.
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
