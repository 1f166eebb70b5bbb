// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/form_entries.h"

#include "ui/graph/style/graph_style.h"
#include "ui/session/workspace.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

void FormEntries::setForm(GraphForm form)
{
    m_form = std::move(form);
    m_unitsOfFloat.clear();
    if (!m_form.tree || isFloat())
        return;
    for (int i = 0; i < int(m_form.tree->size()); ++i)
        for (const NodeId id : m_form.tree->entry(i).members)
            if (const NodeId origin = floatOf(id)) {
                auto& units = m_unitsOfFloat[origin];
                if (units.empty() || units.back() != i)
                    units.push_back(i);
            }
}

bool FormEntries::isFloat() const
{
    // If nothing is quantized, a converted form may have the same graph with another hierarchy.
    return m_form.graph == m_workspace.document().model() && m_form.tree == m_workspace.foldTree();
}

bool FormEntries::isDrawnIn(const GraphDrawingPtr& drawing) const
{
    return drawing && m_form.tree && &drawing->tree->ungrouped() == m_form.tree.get();
}

NodeId FormEntries::floatOf(NodeId id) const
{
    return floatNodeOf(*m_form.graph, m_workspace.document().model().get(), id);
}

std::vector<int> FormEntries::unitsOfFloat(NodeId id) const
{
    if (isFloat()) {
        const int unit = m_form.tree->unitOf(id);
        return unit < 0 ? std::vector<int>() : std::vector {unit};
    }
    const auto it = m_unitsOfFloat.find(id);
    return it == m_unitsOfFloat.end() ? std::vector<int>() : it->second;
}

int FormEntries::floatEntry(const FoldTree& drawn, int entry) const
{
    const auto& own = drawn.entry(entry);
    if (own.repeats > 0)
        return -1;
    if (isFloat())
        return entry;
    const auto& floatTree = *m_workspace.foldTree();
    if (own.isModule())
        return floatTree.moduleEntry(own.path);
    for (const NodeId id : own.members)
        if (const NodeId origin = floatOf(id))
            if (const int unit = floatTree.unitOf(origin); unit >= 0)
                return unit;
    return -1;
}

std::vector<int> FormEntries::floatEntries(const FoldTree& drawn, int entry) const
{
    const auto& own = drawn.entry(entry);
    std::vector<int> out;
    for (const int block : own.repeats > 0 ? own.children : std::vector {entry})
        if (const int found = floatEntry(drawn, block); found >= 0)
            out.push_back(found);
    return out;
}

bool FormEntries::passesFilter(const FoldTree& drawn, int entry) const
{
    if (!m_workspace.verdictFilter())
        return true;
    const auto own = floatEntries(drawn, entry);
    return std::any_of(own.begin(), own.end(),
                       [this](int one) { return m_workspace.passesFilter(one); });
}

std::vector<int> FormEntries::selectedEntries() const
{
    if (isFloat())
        return m_workspace.selectedEntries();
    const auto& selection = m_workspace.selection();
    std::vector<int> out;
    if (selection.isModule()) {
        const int entry = m_form.tree->moduleEntry(selection.modulePath().toStdString());
        if (entry >= 0)
            out.push_back(entry);
        return out;
    }
    for (const NodeId id : selection.nodes())
        for (const int unit : unitsOfFloat(id))
            if (std::find(out.begin(), out.end(), unit) == out.end())
                out.push_back(unit);
    return out;
}

bool FormEntries::areSelected(const std::vector<int>& floatEntries) const
{
    const auto& nodes = m_workspace.selection().nodes();
    const std::unordered_set<NodeId> selected(nodes.begin(), nodes.end());
    return std::all_of(floatEntries.begin(), floatEntries.end(), [&](int entry) {
        const auto inside = m_workspace.foldTree()->nodesOf(entry);
        return std::all_of(inside.begin(), inside.end(),
                           [&](NodeId id) { return selected.contains(id); });
    });
}

void FormEntries::deselect(const std::vector<int>& floatEntries)
{
    std::unordered_set<NodeId> gone;
    for (const int entry : floatEntries)
        for (const NodeId id : m_workspace.foldTree()->nodesOf(entry))
            gone.insert(id);
    std::vector<NodeId> left = m_workspace.selection().nodes();
    std::erase_if(left, [&](NodeId id) { return gone.contains(id); });
    if (left.empty())
        m_workspace.selection().clear();
    else
        m_workspace.selection().selectNodes(left, left.front());
}

std::vector<int> FormEntries::selectedBlocks(const GraphDrawing& drawing) const
{
    const auto& nodes = m_workspace.selection().nodes();
    const std::unordered_set<NodeId> selected(nodes.begin(), nodes.end());
    for (const DrawnNode& node : drawing.nodes) {
        if (drawing.tree->entry(node.entry).repeats == 0)
            continue;
        auto blocks = floatEntries(*drawing.tree, node.entry);
        std::size_t inside = 0;
        for (const int block : blocks)
            for (const NodeId id : m_workspace.foldTree()->nodesOf(block))
                inside += selected.contains(id) ? 1 : selected.size() + 1;
        if (inside == selected.size() && inside > 0)
            return blocks;
    }
    return {};
}

} // namespace qs
