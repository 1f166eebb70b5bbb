// SPDX-License-Identifier: GPL-3.0-or-later
// GraphView: zooming and fitting.
#include "ui/graph/view/graph_view.h"
#include "ui/style/theme.h"

#include <algorithm>

namespace qs {

namespace {

constexpr double kMinZoom = 0.02, kMaxZoom = 4;
/// Minimum scale, for numerical reasons.
constexpr double kTiny = 1e-7;
/// Below this zoom, names are not readable.
constexpr double kReadableZoom = 0.62;
/// Margin around the fitted graph, in pixels.
constexpr double kFitMargin = 20;

} // namespace

double GraphView::wordScale()
{
    return px(100) / 100.0;
}

double GraphView::wholeZoom() const
{
    const QRectF bounds = m_scene.drawing() ? m_scene.drawing()->bounds : QRectF();
    const double wide = (viewport()->width() - 2 * kFitMargin) / std::max(bounds.width(), 1.0);
    const double high = (viewport()->height() - 2 * kFitMargin) / std::max(bounds.height(), 1.0);
    return std::max(std::min(wide, high), kTiny) / wordScale();
}

double GraphView::leastZoom() const
{
    return std::min(kMinZoom, wholeZoom());
}

void GraphView::setZoom(double zoom)
{
    const double wanted = std::clamp(zoom, leastZoom(), kMaxZoom) * wordScale();
    // At a small scale a pixel is thousands of units: use the exact middle of a fitted graph.
    const QPointF center = m_fitted && m_scene.drawing() ? m_scene.drawing()->bounds.center()
                                                         : mapToScene(viewport()->rect().center());
    setTransform(QTransform::fromScale(wanted, wanted));
    centerOn(center);
    m_fitted = false;
    Q_EMIT viewChanged();
}

void GraphView::zoomBy(double factor)
{
    setZoom(zoom() * factor);
}

void GraphView::zoomTo(const QRectF& area)
{
    setZoom(std::min(viewport()->width() / std::max(area.width(), 1.0),
                     viewport()->height() / std::max(area.height(), 1.0))
            / wordScale());
    centerOn(area.center());
    Q_EMIT viewChanged();
}

void GraphView::fitAll()
{
    if (!m_scene.drawing())
        return;
    const QRectF bounds = m_scene.drawing()->bounds;
    setZoom(std::min(wholeZoom(), 1.0));
    centerOn(bounds.center());
    m_fitted = true;
    Q_EMIT viewChanged();
}

void GraphView::fitStart()
{
    fitAll();
    if (!m_scene.drawing() || zoom() >= kReadableZoom)
        return;
    const QRectF bounds = m_scene.drawing()->bounds;
    const bool down = m_scene.drawing()->flow == Flow::Down;
    const QSizeF room(viewport()->size());
    const double across = (down ? room.width() : room.height()) - m_reserved - 2 * kFitMargin;
    setZoom(std::min(
        1.0,
        std::max(kReadableZoom, across / (down ? bounds.width() : bounds.height()) / wordScale())));
    const double half = ((down ? room.height() : room.width()) / 2 - kFitMargin) / pixelScale();
    centerOn(down ? QPointF(bounds.center().x(), bounds.top() + half)
                  : QPointF(bounds.left() + half, bounds.center().y()));
    m_fitted = false;
    Q_EMIT viewChanged();
}

} // namespace qs
