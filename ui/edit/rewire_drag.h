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

/// Feeding an input by dragging in the form that edits are of: the selected edge (any edge with
/// Alt) is taken to another node, from which its reader then reads; Alt+dragging from a node takes
/// its value to a reader. A line follows the pointer; nodes that cannot be stand back; Escape gives
/// it up. A drop is one wish for an edit. GUI thread only.
class RewireDrag : public QObject
{
    Q_OBJECT

public:
    RewireDrag(GraphView& view, Workspace& workspace, GraphEditor& editor, QObject* parent);

    bool isDragging() const { return m_item != nullptr; }

Q_SIGNALS:
    void wanted(const qs::EditStep& step);
    /// One line: why a drop means nothing.
    void refused(const QString& why);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// What is taken by a press there; nothing where it means something else.
    bool take(const QPoint& at, bool alt);
    void begin();
    void follow(const QPoint& at);
    void drop(const QPoint& at);
    void stop();
    /// What the node at an index of the drawing is fed with or feeds, where it can be.
    std::vector<Edge> readingsAt(int node) const;
    std::optional<ValueRef> valueAt(int node) const;
    bool fits(int node) const;
    void wish(const Edge& reading, ValueRef value);

    GraphView& m_view;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    QPoint m_pressed;
    std::shared_ptr<const GraphDrawing> m_drawing; ///< in which something was taken
    std::optional<Edge> m_edge; ///< that is taken to another maker
    std::optional<ValueRef> m_value; ///< that is taken to another reader
    int m_from = -1; ///< the drawing's node at the fixed end
    std::unordered_set<NodeId> m_behind; ///< of the edge's reader
    RewireItem* m_item = nullptr; ///< the scene's, while dragging
};

} // namespace qs
