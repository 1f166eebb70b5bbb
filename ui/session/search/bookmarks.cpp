// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/bookmarks.h"

#include "ui/session/text.h"

#include <QSettings>
#include <QStringList>

#include <algorithm>

namespace qs {

QString Bookmarks::key() const
{
    const auto& info = m_model->info();
    return QStringLiteral("bookmarks/%1")
        .arg(info.sha256.empty() ? toQString(info.name) : toQString(info.sha256));
}

void Bookmarks::setModel(GraphPtr model)
{
    m_model = std::move(model);
    m_nodes.clear();
    if (m_model)
        for (const QString& name : QSettings().value(key()).toStringList())
            if (const Node* node = m_model->tryFind(name.toStdString()))
                m_nodes.insert(node->id);
    Q_EMIT changed();
}

void Bookmarks::toggle(const std::vector<NodeId>& nodes)
{
    if (!m_model || nodes.empty())
        return;
    const bool all = std::all_of(nodes.begin(), nodes.end(),
                                 [this](NodeId id) { return m_nodes.contains(id); });
    for (NodeId id : nodes)
        if (all)
            m_nodes.erase(id);
        else
            m_nodes.insert(id);
    QStringList names;
    for (const auto& node : m_model->nodes())
        if (m_nodes.contains(node->id))
            names << toQString(node->name);
    if (names.isEmpty())
        QSettings().remove(key());
    else
        QSettings().setValue(key(), names);
    Q_EMIT changed();
}

NodeId Bookmarks::next(NodeId from) const
{
    if (!m_model || m_nodes.empty())
        return {};
    const auto nodes = m_model->nodes();
    const std::size_t start = from && m_model->tryGet(from) ? m_model->position(from) + 1 : 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (const auto& node = nodes[(start + i) % nodes.size()]; m_nodes.contains(node->id))
            return node->id;
    return {};
}

} // namespace qs
