// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/rules/edge_rules.h"
#include "ui/edit/graph_editor.h"
#endif

#include <QObject>
#include <QPoint>

#include <optional>
#include <unordered_set>
#include <vector>

class QGraphicsItem;

namespace qs {

struct GraphDrawing;
class GraphView;
class RewireItem;

/// Rewires inputs by dragging, in the form that edits apply to. Dragging the selected edge (with
/// Alt: any edge) to a node makes its reader read that node's value. Alt+dragging from a node feeds
/// its value to a reader. A line follows the pointer; invalid targets are dimmed; Escape cancels. A
/// drop emits one `wanted`. GUI thread only.
class RewireDrag : public QObject
{
    Q_OBJECT

public:
    RewireDrag(GraphView& view, Workspace& workspace, GraphEditor& editor, QObject* parent);

    bool isDragging() const { return m_item != nullptr; }

Q_SIGNALS:
    void wanted(const qs::EditStep& step);
    /// `why`: one line with the reason why a drop has no effect.
    void refused(const QString& why);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// Sets the edge or value to drag for a press at `at`; false without one.
    bool take(const QPoint& at, bool alt);
    void begin();
    void follow(const QPoint& at);
    void drop(const QPoint& at);
    void stop();
    /// The inputs of a drawn node that may read the dragged value.
    std::vector<Edge> readingsAt(int node) const;
    std::optional<ValueRef> valueAt(int node) const;
    bool fits(int node) const;
    void wish(const Edge& reading, ValueRef value);

    GraphView& m_view;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    QPoint m_pressed;
    std::shared_ptr<const GraphDrawing> m_drawing; ///< the drawing of the drag
    std::optional<Edge> m_edge; ///< dragged edge, to another producer
    std::optional<ValueRef> m_value; ///< dragged value, to another reader
    int m_from = -1; ///< the drawing's node at the fixed end
    std::unordered_set<NodeId> m_behind; ///< nodes that depend on the edge's reader
    RewireItem* m_item = nullptr; ///< owned by the scene, while dragging
};

} // namespace qs
