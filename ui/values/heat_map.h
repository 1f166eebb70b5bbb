// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>
#include <QWidget>

#include <functional>
#include <optional>
#include <vector>

namespace qs {

/// Shows the cells of a matrix as colours, with numbers if they are large enough, and the scale
/// below. Ctrl+wheel or +/- zoom, dragging or the arrow keys move. Several maps can share the
/// visible rectangle of cells. GUI thread only.
class HeatMap : public QWidget
{
    Q_OBJECT

public:
    /// The content of one map. `low` and `high`: ends of the scale.
    struct Content
    {
        int rows = 0, columns = 0;
        std::vector<float> values; ///< [rows, columns]; the last row may be shorter
        double low = 0, high = 0;
        std::function<QColor(double)> colour; ///< of a position on the scale, 0 to 1
        QImage image; ///< if set: replaces the colours; rows x columns pixels
    };

    HeatMap(const QString& title, QWidget* parent);

    void setContent(Content content);
    const Content& content() const { return m_content; }
    /// Sets the visible cells, clipped to the matrix.
    void setSeen(const QRectF& cells);
    const QRectF& seen() const { return m_seen; }
    /// Marks a cell; (-1, -1): none.
    void setMarked(const QPoint& cell);
    QSize sizeHint() const override { return {220, 200}; }

Q_SIGNALS:
    void seenChanged(const QRectF& cells);
    /// The pointer or the keyboard moved to a cell (column, row); (-1, -1): to none.
    void cellPointed(const QPoint& cell);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF area() const;
    /// Pixels per cell; below: the rectangle of the visible cells.
    double cellSize() const;
    QRectF picture() const;
    QPoint cellAt(const QPointF& point) const;
    void zoom(double factor, const QPointF& cell);
    void showCells(const QRectF& cells);
    void makeImage();
    void paintNumbers(QPainter& painter) const;
    void paintScale(QPainter& painter) const;

    QString m_title;
    Content m_content;
    QImage m_image;
    QRectF m_seen;
    QPoint m_marked {-1, -1};
    std::optional<QPointF> m_dragFrom;
};

} // namespace qs
