// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_forms.h"
#include "ui/graph/view/graph_drawing.h"

#include <unordered_map>
#include <vector>

namespace qs {

class Workspace;

/// Maps the entries of one form to those of the float model, and back. An entry is one of the
/// form's tree, or a box around repeated blocks of the tree that is drawn. GUI thread only.
class FormEntries
{
public:
    explicit FormEntries(Workspace& workspace)
        : m_workspace(workspace)
    {
    }
    /// An empty form has no entries.
    void setForm(GraphForm form);
    const GraphForm& form() const { return m_form; }
    bool isFloat() const;
    /// The drawing is of this form.
    bool isDrawnIn(const GraphDrawingPtr& drawing) const;

    NodeId floatOf(NodeId id) const;
    /// Units of the form's tree that came from the unit of a float node.
    std::vector<int> unitsOfFloat(NodeId id) const;
    /// The entry of the float tree for one of this form; -1 for one that conversion added, and for
    /// a box, which has several.
    int floatEntry(const FoldTree& drawn, int entry) const;
    /// The same; of a box one for each of its blocks.
    std::vector<int> floatEntries(const FoldTree& drawn, int entry) const;
    /// A node inside meets the verdict that the user filters by.
    bool passesFilter(const FoldTree& drawn, int entry) const;
    /// Entries of the form's tree that the selection covers.
    std::vector<int> selectedEntries() const;
    /// Every node inside these entries of the float tree is selected.
    bool areSelected(const std::vector<int>& floatEntries) const;
    void deselect(const std::vector<int>& floatEntries);
    /// The blocks of the box whose blocks are all that is selected, as entries of the float tree.
    std::vector<int> selectedBlocks(const GraphDrawing& drawing) const;

private:
    Workspace& m_workspace;
    GraphForm m_form;
    std::unordered_map<NodeId, std::vector<int>> m_unitsOfFloat; ///< of a converted form
};

} // namespace qs
