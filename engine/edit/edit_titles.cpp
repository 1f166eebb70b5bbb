// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/edit_titles.h"

#include "engine/configure/edit_text.h"

namespace qs {

EditTitles::EditTitles(const EditedModel& model)
    : m_model(model)
    , m_now(*model.graph)
    , m_file(*model.file)
{
}

std::string EditTitles::of(const EditStep& step) const
{
    return editText(step, [this](const ValueAddress& address) { return nameOf(address); });
}

std::string EditTitles::nameOf(const ValueAddress& address) const
{
    const auto id = m_model.addresses->find(address);
    if (!id)
        return {};
    if (const Node* node = m_model.graph->tryGet(*id))
        return m_now.of(*node);
    const Node* node = m_model.file->tryGet(*id);
    return node ? m_file.of(*node) : std::string();
}

std::string valueTitle(const NodeTitles& titles, const Graph& graph, ValueRef value)
{
    const Node& node = graph.get(value.node);
    return titles.of(node)
        + (node.outputs.size() > 1 ? ", value " + std::to_string(value.index) : "");
}

} // namespace qs
