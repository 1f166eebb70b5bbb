// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>
#include <QWidget>

#include <functional>
#include <optional>
#include <vector>

namespace qs {

/// Cells of a matrix as colours, as numbers where they are large enough, with the scale below.
/// Ctrl+wheel or +/- zoom, dragging or the arrow keys move; what is seen is one rectangle of cells,
/// which several maps share. GUI thread only.
class HeatMap : public QWidget
{
    Q_OBJECT

public:
    /// What one map shows. `colour`: of the value of a cell; `low` and `high`: ends of the scale.
    struct Content
    {
        int rows = 0, columns = 0;
        std::vector<float> values; ///< [rows, columns]; the last line may be shorter
        double low = 0, high = 0;
        std::function<QColor(double)> colour; ///< of a place on the scale, 0 to 1
        QImage image; ///< in the place of colours where it is set, of rows x columns pixels
    };

    HeatMap(const QString& title, QWidget* parent);

    void setContent(Content content);
    const Content& content() const { return m_content; }
    /// The cells that are seen; what lies outside of the matrix is cut off.
    void setSeen(const QRectF& cells);
    const QRectF& seen() const { return m_seen; }
    /// The cell that is marked; none at (-1, -1).
    void setMarked(const QPoint& cell);
    QSize sizeHint() const override { return {220, 200}; }

Q_SIGNALS:
    void seenChanged(const QRectF& cells);
    /// The pointer or the keyboard is on a cell (column, row); (-1, -1): on none.
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
    /// Pixels of one cell, and where the seen cells lie.
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
