// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// moc of Qt 6.4 stumbles over the standard library's concepts.
#ifndef Q_MOC_RUN
#include "engine/plan/rules/edge_rules.h"
#include "ui/session/notices.h"
#endif

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

namespace qs {

/// The selection that all views share: float nodes, or a module with everything inside. Its signal
/// is the last one of a change (`Notice`). GUI thread only.
class Selection : public QObject
{
    Q_OBJECT

public:
    explicit Selection(Notices& notices, QObject* parent = nullptr);

    const std::vector<NodeId>& nodes() const { return m_nodes; }
    /// The node whose properties are shown; none if nothing or a module is selected.
    NodeId current() const { return m_current; }
    /// The selected module's path; meaningful when `isModule()`.
    const QString& modulePath() const { return m_modulePath; }
    bool isModule() const { return m_isModule; }
    bool isEmpty() const { return m_nodes.empty() && !m_isModule; }
    bool contains(NodeId id) const;
    /// The inspected value inside the current node (a custom module); usually none. Another
    /// selection clears it.
    ObserverId interior() const { return m_interior; }
    void setInterior(ObserverId id);
    /// The inspected edge of the current node, whose properties are shown instead of the node's;
    /// usually nothing. Another selection clears it.
    const std::optional<Edge>& edge() const { return m_edge; }
    void setEdge(const std::optional<Edge>& edge);

    /// `current` is the last of the nodes unless given.
    void selectNodes(std::vector<NodeId> nodes, NodeId current = {});
    void selectModule(const QString& path, std::vector<NodeId> nodesInside);
    void clear();

Q_SIGNALS:
    void changed();

private:
    Notices& m_notices;
    std::vector<NodeId> m_nodes;
    NodeId m_current;
    QString m_modulePath;
    bool m_isModule = false;
    ObserverId m_interior;
    std::optional<Edge> m_edge;
};

} // namespace qs
