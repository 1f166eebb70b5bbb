// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/heat_map.h"

#include "ui/style/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kLeastCells = 4; ///< minimum number of visible cells
constexpr double kZoomStep = 1.25;
const QPoint kNoCell {-1, -1};

QString cellText(double value)
{
    return QString::number(value, 'g', 3);
}

} // namespace

HeatMap::HeatMap(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
{
    setAccessibleName(title);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(px(90), px(80));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void HeatMap::setContent(Content content)
{
    const bool isOther = content.rows != m_content.rows || content.columns != m_content.columns;
    m_content = std::move(content);
    makeImage();
    if (isOther || m_seen.isEmpty()) {
        m_seen = QRectF(0, 0, m_content.columns, m_content.rows);
        m_marked = kNoCell;
    }
    update();
}

void HeatMap::makeImage()
{
    m_image = m_content.image;
    if (!m_image.isNull() || m_content.values.empty() || !m_content.colour)
        return;
    std::vector<QRgb> ramp(256);
    for (std::size_t i = 0; i < ramp.size(); ++i)
        ramp[i] = m_content.colour(double(i) / double(ramp.size() - 1)).rgb();
    const QRgb odd = theme().danger.rgb(); // NaN and infinities
    m_image = QImage(m_content.columns, m_content.rows, QImage::Format_RGB32);
    const double width = m_content.high - m_content.low;
    for (int row = 0; row < m_content.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
        for (int column = 0; column < m_content.columns; ++column) {
            const std::size_t index
                = std::size_t(row) * std::size_t(m_content.columns) + std::size_t(column);
            if (index >= m_content.values.size()) {
                line[column] = theme().panel.rgb();
                continue;
            }
            const double value = double(m_content.values[index]);
            const double at = width > 0 ? (value - m_content.low) / width : 0.5;
            line[column] = std::isfinite(value)
                ? ramp[std::size_t(std::lround(std::clamp(at, 0.0, 1.0) * double(ramp.size() - 1)))]
                : odd;
        }
    }
}

void HeatMap::setSeen(const QRectF& cells)
{
    const double columns = m_content.columns, rows = m_content.rows;
    QRectF seen(cells);
    seen.setWidth(std::min(seen.width(), columns));
    seen.setHeight(std::min(seen.height(), rows));
    seen.moveLeft(std::clamp(seen.left(), 0.0, columns - seen.width()));
    seen.moveTop(std::clamp(seen.top(), 0.0, rows - seen.height()));
    m_seen = seen;
    update();
}

void HeatMap::showCells(const QRectF& cells)
{
    setSeen(cells);
    Q_EMIT seenChanged(m_seen);
}

void HeatMap::setMarked(const QPoint& cell)
{
    m_marked = cell;
    update();
}

QRectF HeatMap::area() const
{
    return QRectF(rect()).adjusted(px(4), px(20), -px(4), -px(22));
}

double HeatMap::cellSize() const
{
    const QRectF all = area();
    return m_seen.isEmpty()
        ? 0
        : std::min(all.width() / m_seen.width(), all.height() / m_seen.height());
}

QRectF HeatMap::picture() const
{
    const double size = cellSize();
    QRectF out(0, 0, m_seen.width() * size, m_seen.height() * size);
    out.moveCenter(area().center());
    return out;
}

QPoint HeatMap::cellAt(const QPointF& point) const
{
    const QRectF where = picture();
    const double size = cellSize();
    if (size <= 0 || !where.contains(point))
        return kNoCell;
    return {std::min(int(m_seen.left() + (point.x() - where.left()) / size), m_content.columns - 1),
            std::min(int(m_seen.top() + (point.y() - where.top()) / size), m_content.rows - 1)};
}

void HeatMap::zoom(double factor, const QPointF& cell)
{
    if (m_content.columns == 0)
        return;
    const double least
        = std::min<double>({kLeastCells, double(m_content.columns), double(m_content.rows)});
    const double width = std::clamp(m_seen.width() / factor, least, double(m_content.columns));
    const double height = std::clamp(m_seen.height() / factor, least, double(m_content.rows));
    const double x = m_seen.width() > 0 ? (cell.x() - m_seen.left()) / m_seen.width() : 0.5;
    const double y = m_seen.height() > 0 ? (cell.y() - m_seen.top()) / m_seen.height() : 0.5;
    showCells({cell.x() - x * width, cell.y() - y * height, width, height});
}

void HeatMap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setFont(uiFont(11));
    painter.setPen(theme().muted);
    painter.drawText(QRectF(0, 0, width(), px(18)), Qt::AlignCenter, m_title);
    if (m_image.isNull())
        return;
    const QRectF where = picture();
    painter.drawImage(where, m_image, m_seen);
    painter.setPen(theme().border);
    painter.drawRect(where);
    paintNumbers(painter);
    if (m_marked.x() >= 0 && m_seen.contains(QPointF(m_marked) + QPointF(0.5, 0.5))) {
        const double size = cellSize();
        const QRectF cell(where.left() + (m_marked.x() - m_seen.left()) * size,
                          where.top() + (m_marked.y() - m_seen.top()) * size, std::max(size, 3.0),
                          std::max(size, 3.0));
        painter.setPen(QPen(theme().accent, 2));
        painter.drawRect(cell);
    }
    if (m_content.image.isNull())
        paintScale(painter);
}

/// Paints the values as numbers if the cells are large enough.
void HeatMap::paintNumbers(QPainter& painter) const
{
    const double size = cellSize();
    painter.setFont(monoFont(9.5));
    if (size < QFontMetricsF(painter.font()).horizontalAdvance(QStringLiteral("-0.00123")) + 4
        || m_content.values.empty())
        return;
    const QRectF where = picture();
    for (int row = int(m_seen.top());
         row < std::min(int(std::ceil(m_seen.bottom())), m_content.rows); ++row)
        for (int column = int(m_seen.left());
             column < std::min(int(std::ceil(m_seen.right())), m_content.columns); ++column) {
            const QRectF cell(where.left() + (column - m_seen.left()) * size,
                              where.top() + (row - m_seen.top()) * size, size, size);
            const std::size_t index
                = std::size_t(row) * std::size_t(m_content.columns) + std::size_t(column);
            if (!where.adjusted(-1, -1, 1, 1).contains(cell) || index >= m_content.values.size())
                continue;
            painter.setPen(textOn(m_image.pixelColor(column, row)));
            painter.drawText(cell, Qt::AlignCenter, cellText(double(m_content.values[index])));
        }
}

void HeatMap::paintScale(QPainter& painter) const
{
    const QRectF all = area();
    painter.setFont(monoFont(9.5));
    const QFontMetricsF metrics(painter.font());
    const QString low = cellText(m_content.low), high = cellText(m_content.high);
    const double lowWidth = metrics.horizontalAdvance(low) + 4;
    const double highWidth = metrics.horizontalAdvance(high) + 4;
    const QRectF strip(all.left() + lowWidth, all.bottom() + px(8),
                       std::max(1.0, all.width() - lowWidth - highWidth), px(7));
    for (int x = 0; x < int(strip.width()); ++x)
        painter.fillRect(QRectF(strip.left() + x, strip.top(), 1, strip.height()),
                         m_content.colour(double(x) / std::max(1.0, strip.width() - 1)));
    painter.setPen(theme().muted);
    const double top = all.bottom() + px(3), height = px(17);
    painter.drawText(QRectF(all.left(), top, lowWidth, height), Qt::AlignVCenter, low);
    painter.drawText(QRectF(all.right() - highWidth, top, highWidth, height),
                     Qt::AlignVCenter | Qt::AlignRight, high);
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        m_dragFrom = event->position();
}

void HeatMap::mouseMoveEvent(QMouseEvent* event)
{
    if (m_dragFrom && event->buttons() & Qt::LeftButton) {
        const double size = cellSize();
        const QPointF moved = event->position() - *m_dragFrom;
        m_dragFrom = event->position();
        if (size > 0)
            showCells(m_seen.translated(-moved.x() / size, -moved.y() / size));
    }
    Q_EMIT cellPointed(cellAt(event->position()));
}

void HeatMap::mouseReleaseEvent(QMouseEvent*)
{
    m_dragFrom.reset();
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent*)
{
    showCells({0, 0, double(m_content.columns), double(m_content.rows)});
}

void HeatMap::leaveEvent(QEvent*)
{
    Q_EMIT cellPointed(kNoCell);
}

void HeatMap::wheelEvent(QWheelEvent* event)
{
    if (!(event->modifiers() & Qt::ControlModifier)) {
        event->ignore();
        return;
    }
    const QPoint cell = cellAt(event->position());
    zoom(event->angleDelta().y() > 0 ? kZoomStep : 1 / kZoomStep,
         cell.x() < 0 ? m_seen.center() : QPointF(cell) + QPointF(0.5, 0.5));
    event->accept();
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    const double x = std::max(1.0, m_seen.width() / 8), y = std::max(1.0, m_seen.height() / 8);
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoom(kZoomStep, m_seen.center());
    case Qt::Key_Minus:
        return zoom(1 / kZoomStep, m_seen.center());
    case Qt::Key_0:
        return showCells({0, 0, double(m_content.columns), double(m_content.rows)});
    case Qt::Key_Left:
        return showCells(m_seen.translated(-x, 0));
    case Qt::Key_Right:
        return showCells(m_seen.translated(x, 0));
    case Qt::Key_Up:
        return showCells(m_seen.translated(0, -y));
    case Qt::Key_Down:
        return showCells(m_seen.translated(0, y));
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace qs
