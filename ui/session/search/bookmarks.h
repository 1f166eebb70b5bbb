// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/graph.h"
#endif

#include <QObject>

#include <unordered_set>
#include <vector>

namespace qs {

/// Nodes that the user marked. Stored by name for each model file in the user's settings. GUI
/// thread only.
class Bookmarks : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Loads the model's stored bookmarks; null clears all.
    void setModel(GraphPtr model);
    /// Marks all of the nodes; if all are marked, removes the marks.
    void toggle(const std::vector<NodeId>& nodes);
    bool contains(NodeId id) const { return m_nodes.contains(id); }
    const std::unordered_set<NodeId>& nodes() const { return m_nodes; }
    /// The first bookmark after `from` in graph order, wrapping at the end; none without bookmarks.
    NodeId next(NodeId from) const;

Q_SIGNALS:
    void changed();

private:
    QString key() const;

    GraphPtr m_model;
    std::unordered_set<NodeId> m_nodes;
};

} // namespace qs
