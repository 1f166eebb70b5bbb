// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/dot_plot.h"

#include "ui/plots/custom_plot.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <numeric>
#include <utility>

namespace qs {

namespace {

constexpr double kReach = 12; ///< pixels around a dot that belong to it

} // namespace

DotPlot::DotPlot(Workspace& workspace, const QString& name, const char* dots, const QString& words,
                 QWidget* parent)
    : PlotPage(workspace, name, parent)
{
    m_column->setContentsMargins(px(8), 0, 0, 0);
    m_plot->setFocusPolicy(Qt::StrongFocus);
    setNames(*m_plot, dots, words);
    m_plot->setMinimumSize(px(110), px(44));
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
}

void DotPlot::setDots(std::vector<QPointF> places)
{
    m_places = std::move(places);
    m_order.resize(m_places.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::stable_sort(m_order.begin(), m_order.end(), [this](int a, int b) {
        const QPointF one = m_places[std::size_t(a)], other = m_places[std::size_t(b)];
        return std::pair(one.x(), one.y()) < std::pair(other.x(), other.y());
    });
}

QPoint DotPlot::dotPosition(int dot) const
{
    const QPointF place = m_places[std::size_t(dot)];
    return QPointF(m_plot->xAxis->coordToPixel(place.x()), m_plot->yAxis->coordToPixel(place.y()))
        .toPoint();
}

int DotPlot::dotAt(const QPointF& point) const
{
    int nearest = -1;
    double least = kReach * kReach;
    for (int dot = 0; dot < dotCount(); ++dot) {
        const QPointF way = point - QPointF(dotPosition(dot));
        const double distance = QPointF::dotProduct(way, way);
        if (distance <= least) {
            least = distance;
            nearest = dot;
        }
    }
    return nearest;
}

bool DotPlot::useKey(int key)
{
    const int last = dotCount() - 1;
    const auto now = std::find(m_order.begin(), m_order.end(), keyDot());
    const int place = now == m_order.end() ? -1 : int(now - m_order.begin());
    int next = 0;
    switch (key) {
    case Qt::Key_Left:
        next = place < 0 ? last : std::max(0, place - 1);
        break;
    case Qt::Key_Right:
        next = std::min(last, place + 1);
        break;
    case Qt::Key_Home:
        break;
    case Qt::Key_End:
        next = last;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (place >= 0)
            choose(keyDot());
        return true;
    default:
        return false;
    }
    if (last >= 0)
        moveTo(m_order[std::size_t(next)]);
    return true;
}

bool DotPlot::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_plot)
        return PlotPage::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::KeyPress:
        return useKey(static_cast<QKeyEvent*>(event)->key());
    case QEvent::MouseMove: {
        const int dot = dotAt(static_cast<QMouseEvent*>(event)->position());
        m_plot->setCursor(dot >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
        pointAt(dot);
        return false;
    }
    case QEvent::MouseButtonPress: {
        const auto* press = static_cast<QMouseEvent*>(event);
        const int dot = dotAt(press->position());
        if (press->button() != Qt::LeftButton || dot < 0)
            return false;
        choose(dot);
        return true;
    }
    default:
        return PlotPage::eventFilter(watched, event);
    }
}

} // namespace qs
