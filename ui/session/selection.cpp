// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/selection.h"

#include <algorithm>

namespace qs {

Selection::Selection(Notices& notices, QObject* parent)
    : QObject(parent)
    , m_notices(notices)
{
    notices.deliverWith(Notice::Selection, [this] { Q_EMIT changed(); });
}

bool Selection::contains(NodeId id) const
{
    return std::find(m_nodes.begin(), m_nodes.end(), id) != m_nodes.end();
}

void Selection::selectNodes(std::vector<NodeId> nodes, NodeId current)
{
    if (!current && !nodes.empty())
        current = nodes.back();
    if (!m_isModule && !m_edge && nodes == m_nodes && current == m_current)
        return;
    m_nodes = std::move(nodes);
    m_current = current;
    m_isModule = false;
    m_modulePath.clear();
    m_interior = {};
    m_edge.reset();
    m_notices.post({Notice::Selection});
}

void Selection::selectModule(const QString& path, std::vector<NodeId> nodesInside)
{
    if (m_isModule && path == m_modulePath && nodesInside == m_nodes)
        return;
    m_nodes = std::move(nodesInside);
    m_current = {};
    m_isModule = true;
    m_modulePath = path;
    m_interior = {};
    m_edge.reset();
    m_notices.post({Notice::Selection});
}

void Selection::clear()
{
    if (isEmpty())
        return;
    m_nodes.clear();
    m_current = {};
    m_isModule = false;
    m_modulePath.clear();
    m_interior = {};
    m_edge.reset();
    m_notices.post({Notice::Selection});
}

void Selection::setInterior(ObserverId id)
{
    if (id == m_interior)
        return;
    m_interior = id;
    m_notices.post({Notice::Selection});
}

void Selection::setEdge(const std::optional<Edge>& edge)
{
    if (edge == m_edge)
        return;
    m_edge = edge;
    m_interior = {};
    m_notices.post({Notice::Selection});
}

} // namespace qs
