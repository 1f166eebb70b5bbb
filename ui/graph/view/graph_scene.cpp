// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_scene.h"

#include "ui/graph/view/hot_item.h"

#include <QSet>

#include <utility>

namespace qs {

GraphScene::GraphScene(QObject* parent)
    : QGraphicsScene(parent)
    , m_canvas(new GraphCanvas)
{
    // One large item needs no index.
    setItemIndexMethod(QGraphicsScene::NoIndex);
    m_canvas->setFlag(QGraphicsItem::ItemUsesExtendedStyleOption);
    addItem(m_canvas);
}

GraphScene::~GraphScene() = default;

void GraphScene::setDrawing(GraphDrawingPtr drawing)
{
    setSelectedEntries({});
    setHovered(-1);
    setHoveredEdge(-1);
    setLitEdges({});
    setFanOut({}, {});
    m_canvas->setDrawing(std::move(drawing));
    // A margin, so that the ends of the graph can be centred.
    const QRectF bounds = m_canvas->boundingRect();
    setSceneRect(bounds.adjusted(-400, -300, 400, 300));
    Q_EMIT drawingChanged();
}

void GraphScene::setStyle(GraphStyle style)
{
    m_canvas->setStyle(std::move(style));
    Q_EMIT drawingChanged();
}

QRectF GraphScene::rectOf(int entry) const
{
    const bool isDrawn
        = drawing() && entry >= 0 && std::size_t(entry) < drawing()->nodeOfEntry.size();
    return isDrawn ? drawing()->rectOf(entry) : QRectF();
}

void GraphScene::setFanOut(const QRectF& from, std::vector<QRectF> readers)
{
    delete m_fanOut;
    m_fanOut = nullptr;
    if (readers.empty())
        return;
    m_fanOut = new FanOutItem(from, std::move(readers));
    addItem(m_fanOut);
}

void GraphScene::setSelectedEntries(const std::vector<int>& entries)
{
    for (auto* item : m_selected)
        delete item;
    m_selected.clear();
    QSet<std::pair<double, double>> done; // entries inside a folded module share its rectangle
    for (int entry : entries) {
        const QRectF rect = rectOf(entry);
        if (rect.isNull() || done.contains({rect.x(), rect.y()}))
            continue;
        done.insert({rect.x(), rect.y()});
        m_selected.push_back(new HotItem(rect, HotItem::Style::Selected));
        addItem(m_selected.back());
    }
}

void GraphScene::setLitEdges(LitEdges lit)
{
    for (auto* item : m_litItems)
        delete item;
    m_litItems.clear();
    m_lit = std::move(lit);
    const auto add = [this](QGraphicsItem* item) {
        m_litItems.push_back(item);
        addItem(item);
    };
    if (!m_lit.partners.empty())
        add(new EdgeItem(*drawing(), m_lit.partners, HotItem::Style::Partner));
    for (const int entry : m_lit.makers)
        if (const QRectF rect = rectOf(entry); !rect.isNull())
            add(new HotItem(rect, HotItem::Style::Partner));
    if (!m_lit.chosen.empty())
        add(new EdgeItem(*drawing(), m_lit.chosen, HotItem::Style::Selected));
}

void GraphScene::setHoveredEdge(int stretch)
{
    delete m_hoveredEdge;
    m_hoveredEdge = nullptr;
    if (stretch < 0)
        return;
    m_hoveredEdge = new EdgeItem(*drawing(), {stretch}, HotItem::Style::Hovered);
    addItem(m_hoveredEdge);
}

void GraphScene::setHovered(int nodeIndex)
{
    if (nodeIndex < 0) {
        delete m_hover;
        m_hover = nullptr;
        return;
    }
    const QRectF rect = m_canvas->drawing()->nodes[std::size_t(nodeIndex)].rect;
    if (m_hover) {
        m_hover->setRect(rect);
        return;
    }
    m_hover = new HotItem(rect, HotItem::Style::Hovered);
    addItem(m_hover);
}

} // namespace qs
