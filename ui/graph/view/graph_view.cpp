// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_view.h"

#include "engine/base/text.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QRubberBand>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

/// Maximum distance in pixels at which an edge is hit.
constexpr double kEdgeReach = 6;

} // namespace

GraphView::GraphView(QWidget* parent)
    : QGraphicsView(parent)
    , m_band(new QRubberBand(QRubberBand::Rectangle, this))
{
    setNames(*this, "graphView", tr("Graph"));
    setScene(&m_scene);
    m_band->setObjectName(QStringLiteral("graphBand"));
    setFrameShape(QFrame::NoFrame);
    setBackgroundBrush(theme().canvas);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTransformationAnchor(QGraphicsView::NoAnchor);
    setResizeAnchor(QGraphicsView::AnchorViewCenter);
    setViewportUpdateMode(QGraphicsView::SmartViewportUpdate);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

GraphView::~GraphView()
{
    // Removing the scene scrolls the view once more; suppress its signals.
    blockSignals(true);
    setScene(nullptr);
}

bool GraphView::isShowing(const QRectF& rect) const
{
    return mapToScene(viewport()->rect()).boundingRect().contains(rect);
}

void GraphView::centerOnEntry(int entry)
{
    const QRectF rect = m_scene.rectOf(entry);
    if (rect.isNull())
        return;
    centerOn(rect.center());
    m_fitted = false; // the user moved the view
    Q_EMIT viewChanged();
}

int GraphView::entryAt(const QPoint& at) const
{
    const auto& drawing = m_scene.drawing();
    if (!drawing)
        return -1;
    const QPointF point = mapToScene(at);
    if (const int node = m_scene.canvas().nodeAt(point); node >= 0)
        return drawing->nodes[std::size_t(node)].entry;
    const int frame = m_scene.canvas().frameHeaderAt(point);
    return frame >= 0 ? drawing->boxes[std::size_t(frame)].entry : -1;
}

int GraphView::stretchAt(const QPointF& at) const
{
    const auto& drawing = m_scene.drawing();
    return drawing && m_scene.canvas().style().words
        ? drawing->edgeAt(at, kEdgeReach / pixelScale())
        : -1;
}

void GraphView::wheelEvent(QWheelEvent* event)
{
    const QPoint delta
        = event->pixelDelta().isNull() ? event->angleDelta() / 2 : event->pixelDelta();
    if (event->modifiers() & Qt::ControlModifier) {
        const QPointF before = mapToScene(event->position().toPoint());
        setZoom(zoom() * std::pow(1.0018, event->angleDelta().y()));
        const QPointF moved = before - mapToScene(event->position().toPoint());
        centerOn(mapToScene(viewport()->rect().center()) + moved);
        Q_EMIT viewChanged();
    } else {
        const bool sideways = event->modifiers() & Qt::ShiftModifier;
        horizontalScrollBar()->setValue(horizontalScrollBar()->value()
                                        - (sideways ? delta.y() : delta.x()));
        if (!sideways)
            verticalScrollBar()->setValue(verticalScrollBar()->value() - delta.y());
    }
    event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event)
{
    m_pressed = m_lastDrag = event->pos();
    m_dragging = false;
    m_bandZooms = !(event->modifiers() & Qt::ShiftModifier);
    if (event->button() == Qt::LeftButton
        && event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier)) {
        m_band->setGeometry(QRect(m_pressed, QSize()));
        m_band->show();
    }
    event->accept();
}

void GraphView::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & (Qt::LeftButton | Qt::MiddleButton)) {
        if (!m_dragging
            && (event->pos() - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
            m_dragging = true;
            viewport()->setCursor(m_band->isVisible() ? Qt::CrossCursor : Qt::ClosedHandCursor);
        }
        if (m_dragging && m_band->isVisible()) {
            m_band->setGeometry(QRect(m_pressed, event->pos()).normalized());
        } else if (m_dragging) {
            const QPoint by = event->pos() - m_lastDrag;
            horizontalScrollBar()->setValue(horizontalScrollBar()->value() - by.x());
            verticalScrollBar()->setValue(verticalScrollBar()->value() - by.y());
        }
        m_lastDrag = event->pos();
        return;
    }
    hover(mapToScene(event->pos()));
}

void GraphView::hover(const QPointF& at)
{
    const auto& drawing = m_scene.drawing();
    if (!drawing)
        return;
    const auto& canvas = m_scene.canvas();
    int node = canvas.nodeAt(at);
    const int named = node < 0 ? canvas.referencesAt(at) : -1;
    const int stretch = node < 0 && named < 0 ? stretchAt(at) : -1;
    if (node == m_hovered && named == m_hoveredName && stretch == m_hoveredEdge)
        return;
    if (stretch != m_hoveredEdge)
        m_scene.setHoveredEdge(stretch);
    m_hoveredEdge = stretch;
    m_hovered = node;
    m_hoveredName = named;
    m_scene.setHovered(node);
    m_scene.setFanOut({}, {});
    if (named >= 0) {
        viewport()->setToolTip(showNamed(named));
        return;
    }
    if (node < 0 || !canvas.style().words) {
        const auto* value = stretch < 0
            ? nullptr
            : &drawing->graph->value(drawing->edges[std::size_t(stretch)].value);
        viewport()->setToolTip(
            value ? QStringLiteral("%1  %2").arg(toQString(value->name), shapeText(value->type))
                  : QString());
        return;
    }
    m_hoveredReaders = showFanOut(node);
    viewport()->setToolTip(tipOf(node));
}

QString GraphView::tipOf(int node) const
{
    const NodeText words = m_scene.canvas().style().text(node);
    QStringList lines {words.title, words.detail};
    if (!words.inside.isEmpty())
        lines << words.inside;
    if (m_hoveredReaders > 0)
        lines << tr("named at %1").arg(toQString(counted(m_hoveredReaders, "more reader")));
    if (m_tipLines)
        lines << m_tipLines(m_scene.drawing()->nodes[std::size_t(node)].entry);
    return lines.join(QLatin1Char('\n'));
}

void GraphView::refreshTip()
{
    const auto& drawing = m_scene.drawing();
    if (!drawing || m_hovered < 0 || std::size_t(m_hovered) >= drawing->nodes.size()
        || !m_scene.canvas().style().words)
        return;
    const QString tip = tipOf(m_hovered);
    if (tip == viewport()->toolTip())
        return;
    viewport()->setToolTip(tip);
    if (QToolTip::isVisible() && viewport()->underMouse())
        QToolTip::showText(QCursor::pos(), tip, viewport());
}

/// Outlines the producers of the values that a node shows by name; returns the full names.
QString GraphView::showNamed(int node)
{
    const auto& drawing = *m_scene.drawing();
    QStringList lines;
    std::vector<QRectF> producers;
    for (const auto& reference : drawing.referencesOf(node)) {
        const auto& value = drawing.graph->value(reference.value);
        lines << QStringLiteral("%1  %2").arg(QString::fromStdString(value.name),
                                              shapeText(value.type));
        const QRectF rect = drawing.rectOf(drawing.tree->unitOf(reference.value.node));
        if (!rect.isNull())
            producers.push_back(rect);
    }
    m_scene.setFanOut(drawing.nodes[std::size_t(node)].rect, std::move(producers));
    return lines.join(QLatin1Char('\n'));
}

int GraphView::showFanOut(int node)
{
    const auto& drawing = *m_scene.drawing();
    const int entry = drawing.nodes[std::size_t(node)].entry;
    std::vector<QRectF> readers;
    for (const auto& reference : drawing.references) {
        const int producer = drawing.tree->unitOf(reference.value.node);
        if (drawing.tree->isWithin(producer, entry))
            readers.push_back(drawing.nodes[std::size_t(reference.node)].rect);
    }
    const int count = int(readers.size());
    m_scene.setFanOut(drawing.nodes[std::size_t(node)].rect, std::move(readers));
    return count;
}

void GraphView::mouseReleaseEvent(QMouseEvent* event)
{
    viewport()->unsetCursor();
    if (m_band->isVisible()) {
        m_band->hide();
        if (m_dragging && m_bandZooms)
            zoomTo(mapToScene(m_band->geometry()).boundingRect());
        else if (m_dragging && m_scene.drawing())
            selectBand(event->modifiers() & Qt::ControlModifier);
    }
    if (std::exchange(m_dragging, false) || event->button() != Qt::LeftButton)
        return;
    if (const int entry = entryAt(event->pos()); entry >= 0)
        Q_EMIT entryClicked(entry, event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier));
    else if (!pointAtEdge(mapToScene(event->pos())))
        Q_EMIT emptyClicked();
}

bool GraphView::pointAtEdge(const QPointF& at)
{
    const int named = m_scene.drawing() ? m_scene.canvas().referencesAt(at) : -1;
    const int stretch = named < 0 ? stretchAt(at) : -1;
    if (named >= 0)
        Q_EMIT namesClicked(named);
    else if (stretch >= 0)
        Q_EMIT edgeClicked(stretch);
    return named >= 0 || stretch >= 0;
}

void GraphView::selectBand(bool extend)
{
    const QRectF touched = mapToScene(m_band->geometry()).boundingRect();
    std::vector<int> entries;
    for (const auto& node : m_scene.drawing()->nodes)
        if (node.rect.intersects(touched))
            entries.push_back(node.entry);
    if (!entries.empty())
        Q_EMIT entriesBanded(entries, extend);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event)
{
    const int entry = entryAt(event->pos());
    if (entry < 0)
        return;
    if (m_scene.drawing()->tree->entry(entry).isModule())
        Q_EMIT foldToggled(entry, event->modifiers() & Qt::AltModifier);
    else
        Q_EMIT entryActivated(entry);
}

void GraphView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        Q_EMIT activateWanted();
    else if (event->key() >= Qt::Key_Left && event->key() <= Qt::Key_Down
             && !(event->modifiers() & ~Qt::KeypadModifier))
        Q_EMIT walkWanted(Qt::Key(event->key()));
    else if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier)
        fitAll();
    else if (event->key() == Qt::Key_Backspace)
        event->ignore(); // the enclosing pane handles it
    else
        QGraphicsView::keyPressEvent(event);
}

void GraphView::contextMenuEvent(QContextMenuEvent* event)
{
    if (const int entry = entryAt(event->pos()); entry >= 0)
        Q_EMIT contextMenuWanted(entry, event->globalPos());
    else if (pointAtEdge(mapToScene(event->pos())))
        Q_EMIT edgeMenuWanted(event->globalPos());
}

void GraphView::leaveEvent(QEvent* event)
{
    m_hovered = m_hoveredName = m_hoveredEdge = -1;
    m_scene.setHovered(-1);
    m_scene.setHoveredEdge(-1);
    m_scene.setFanOut({}, {});
    QGraphicsView::leaveEvent(event);
}

void GraphView::resizeEvent(QResizeEvent* event)
{
    const bool fitted = m_fitted;
    QGraphicsView::resizeEvent(event);
    if (fitted)
        fitAll();
    Q_EMIT viewChanged();
}

void GraphView::paintEvent(QPaintEvent* event)
{
    QGraphicsView::paintEvent(event);
    ++m_paintCount;
}

void GraphView::scrollContentsBy(int dx, int dy)
{
    QGraphicsView::scrollContentsBy(dx, dy);
    m_fitted = false;
    Q_EMIT viewChanged();
}

} // namespace qs
