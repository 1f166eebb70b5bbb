// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/rewire_drag.h"

#include "engine/graph/text/node_titles.h"
#include "ui/edit/rewire_targets.h"
#include "ui/graph/view/edge_marks.h"
#include "ui/graph/view/graph_view.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QGraphicsItem>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace qs {

/// Draws the line from the fixed end to the pointer, and dims invalid targets.
class RewireItem : public QGraphicsItem
{
public:
    RewireItem(const QRectF& bounds, const QRectF& from, std::vector<QRectF> blocked)
        : m_bounds(bounds)
        , m_from(from)
        , m_blocked(std::move(blocked))
    {
        setAcceptedMouseButtons(Qt::NoButton);
        setZValue(3);
    }

    void follow(const QPointF& to, const QRectF& target)
    {
        m_to = to;
        m_target = target;
        update();
    }

    QRectF boundingRect() const override { return m_bounds; }

    void paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) override
    {
        painter->setRenderHint(QPainter::Antialiasing, true);
        QColor veil = theme().canvas;
        veil.setAlpha(190);
        painter->setPen(Qt::NoPen);
        painter->setBrush(veil);
        for (const QRectF& rect : m_blocked)
            painter->drawRect(rect.adjusted(-2, -2, 2, 2));
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(theme().accent, 2.5));
        painter->drawRoundedRect(m_from, 6, 6);
        if (!m_target.isNull())
            painter->drawRoundedRect(m_target, 6, 6);
        painter->setPen(QPen(theme().accent, 2, Qt::DashLine));
        painter->drawLine(m_from.center(), m_to);
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme().accent);
        painter->drawEllipse(m_to, 4, 4);
    }

private:
    QRectF m_bounds, m_from, m_target;
    QPointF m_to;
    std::vector<QRectF> m_blocked;
};

RewireDrag::RewireDrag(GraphView& view, Workspace& workspace, GraphEditor& editor, QObject* parent)
    : QObject(parent)
    , m_view(view)
    , m_workspace(workspace)
    , m_editor(editor)
{
    view.viewport()->installEventFilter(this);
    view.installEventFilter(this);
    // The dragged edge or value belongs to the previous drawing.
    connect(&view.graphScene(), &GraphScene::drawingChanged, this, [this] {
        if (m_view.graphScene().drawing() != m_drawing)
            stop();
    });
}

bool RewireDrag::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_view) {
        const bool key
            = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
        if (!isDragging() || !key || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
            return false;
        stop();
        event->accept();
        return true;
    }
    auto* mouse = static_cast<QMouseEvent*>(event);
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        stop();
        m_pressed = mouse->pos();
        if (mouse->button() == Qt::LeftButton
            && !(mouse->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier)))
            take(m_pressed, mouse->modifiers() & Qt::AltModifier);
        return false; // a click keeps its usual effect
    case QEvent::MouseMove:
        if (!(mouse->buttons() & Qt::LeftButton) || (!m_edge && !m_value))
            return false;
        if (!isDragging()
            && (mouse->pos() - m_pressed).manhattanLength() >= QApplication::startDragDistance())
            begin();
        if (isDragging())
            follow(mouse->pos());
        return true;
    case QEvent::MouseButtonRelease:
        if (!isDragging() || mouse->button() != Qt::LeftButton)
            return false;
        drop(mouse->pos());
        return true;
    default:
        return false;
    }
}

bool RewireDrag::take(const QPoint& at, bool alt)
{
    const GraphPtr form = m_editor.graph();
    const GraphDrawingPtr& drawing = m_view.graphScene().drawing();
    if (!form || !drawing || drawing->graph != form) // this view shows another form
        return false;
    m_drawing = drawing;
    const QPointF point = m_view.mapToScene(at);
    const int node = m_view.graphScene().canvas().nodeAt(point);
    if (node >= 0) {
        m_value = alt ? valueAt(node) : std::nullopt;
        m_from = node;
        return m_value.has_value();
    }
    const auto& edge = m_workspace.selection().edge();
    const int stretch = m_view.stretchAt(point);
    if (stretch < 0)
        return false;
    const auto& lit = m_view.graphScene().litEdges().chosen;
    const bool isLit = edge && std::find(lit.begin(), lit.end(), stretch) != lit.end();
    if (isLit && m_editor.form() == EditForm::Float)
        m_edge = edge;
    else if (isLit || alt) // the form's edge, not the float edge of origin
        m_edge = EdgeMarks(*drawing, *form, *drawing->tree).edgeOf(stretch);
    m_from = m_edge ? drawing->nodeShowing(drawing->tree->unitOf(m_edge->reader.node)) : -1;
    if (m_from < 0)
        m_edge.reset(); // its reader is not drawn
    return m_edge.has_value();
}

std::optional<ValueRef> RewireDrag::valueAt(int node) const
{
    const GraphDrawing& drawing = *m_view.graphScene().drawing();
    return valueOfEntry(*drawing.graph, *drawing.tree, drawing.nodes[std::size_t(node)].entry);
}

std::vector<Edge> RewireDrag::readingsAt(int node) const
{
    const GraphDrawing& drawing = *m_view.graphScene().drawing();
    std::vector<Edge> out
        = readingsOf(*drawing.graph, *drawing.tree, drawing.nodes[std::size_t(node)].entry);
    std::erase_if(out, [&](const Edge& reading) {
        return !drawing.graph->get(reading.reader.node).isOperator()
            || !mayRead(*drawing.graph, reading, *m_value,
                        behind(*drawing.graph, reading.reader.node));
    });
    return out;
}

bool RewireDrag::fits(int node) const
{
    if (node < 0 || node == m_from)
        return false;
    if (m_value)
        return !readingsAt(node).empty();
    const auto value = valueAt(node);
    return value && mayRead(*m_view.graphScene().drawing()->graph, *m_edge, *value, m_behind);
}

void RewireDrag::begin()
{
    const GraphDrawing& drawing = *m_view.graphScene().drawing();
    if (m_edge)
        m_behind = behind(*drawing.graph, m_edge->reader.node);
    std::vector<QRectF> blocked;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
        if (int(i) != m_from && !fits(int(i)))
            blocked.push_back(drawing.nodes[i].rect);
    m_item = new RewireItem(drawing.bounds.adjusted(-2000, -2000, 2000, 2000),
                            drawing.nodes[std::size_t(m_from)].rect, std::move(blocked));
    m_view.graphScene().addItem(m_item);
    m_view.viewport()->setCursor(Qt::CrossCursor);
}

void RewireDrag::follow(const QPoint& at)
{
    const QPointF point = m_view.mapToScene(at);
    const int node = m_view.graphScene().canvas().nodeAt(point);
    m_item->follow(point,
                   fits(node) ? m_view.graphScene().drawing()->nodes[std::size_t(node)].rect
                              : QRectF());
}

void RewireDrag::drop(const QPoint& at)
{
    const auto& scene = m_view.graphScene();
    const GraphDrawingPtr drawing = scene.drawing();
    const int node = scene.canvas().nodeAt(m_view.mapToScene(at));
    const bool meant = node >= 0 && node != m_from;
    const bool fit = fits(node);
    const auto edge = m_edge;
    const auto value = m_value;
    if (drawing->graph != m_editor.graph()) { // a new layout is pending
        stop();
        return;
    }
    const auto readings = meant && fit && value ? readingsAt(node) : std::vector<Edge>();
    const auto source = meant && fit && edge ? valueAt(node) : std::nullopt;
    stop();
    if (!meant)
        return; // not dropped on another node
    if (source)
        wish(*edge, *source);
    else if (readings.size() == 1)
        wish(readings.front(), *value);
    else if (readings.empty()) {
        const FoldEntry& entry = drawing->tree->entry(drawing->nodes[std::size_t(node)].entry);
        const QString title = toQString(entry.isModule() ? entry.label : entry.title);
        Q_EMIT refused(
            edge ? tr("%1 depends on the new reader, has several results, or a result of "
                      "another kind")
                       .arg(title)
                 : tr("%1 has no input that could read it: the value depends on its result, "
                      "or is of another kind")
                       .arg(title));
    } else {
        QMenu menu(&m_view);
        menu.setObjectName(QStringLiteral("rewireMenu"));
        const NodeTitles titles(*drawing->graph);
        for (const Edge& reading : readings)
            connect(menu.addAction(
                        tr("Feed %1, %2")
                            .arg(toQString(titles.of(drawing->graph->get(reading.reader.node))),
                                 toQString(drawing->graph->get(reading.reader.node)
                                               .args[reading.reader.argument]
                                               .name))),
                    &QAction::triggered, this, [this, reading, value] { wish(reading, *value); });
        menu.exec(m_view.viewport()->mapToGlobal(at));
    }
}

void RewireDrag::stop()
{
    m_edge.reset();
    m_value.reset();
    m_behind.clear();
    m_drawing.reset();
    if (!m_item)
        return;
    delete m_item; // removes itself from the scene
    m_item = nullptr;
    m_view.viewport()->unsetCursor();
}

void RewireDrag::wish(const Edge& reading, ValueRef value)
{
    const GraphPtr graph = m_editor.graph();
    const Node* found = graph ? graph->tryGet(reading.reader.node) : nullptr;
    if (!found || reading.reader.argument >= found->args.size())
        return; // the model changed while the menu was open
    const Node& reader = *found;
    const NamedArgument& argument = reader.args[reading.reader.argument];
    if (reader.kind == NodeKind::Output) {
        Q_EMIT refused(tr("outputs of the model can be added and dropped, not fed"));
        return;
    }
    EditStep step;
    step.kind = EditKind::Rewire;
    for (const GraphEditor::Reader& input : m_editor.inputsOf(reader.id)) {
        if (input.address.argument != argument.name)
            continue;
        const auto* list = argument.value.asList();
        const auto* item = list && input.address.item >= 0
            ? (*list)[std::size_t(input.address.item)].asRef()
            : argument.value.asRef();
        if (!item || !(*item == reading.value))
            continue;
        step.at = input.address.node;
        step.argument = input.address.argument;
        step.item = input.address.item;
        break;
    }
    step.to = m_editor.addressOf(value);
    if (step.to.kind == ValueAddress::Kind::None || step.at.kind == ValueAddress::Kind::None)
        Q_EMIT refused(tr("an edit cannot name this value or this input"));
    else
        Q_EMIT wanted(step);
}

} // namespace qs
