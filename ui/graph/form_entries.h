// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_forms.h"
#include "ui/graph/view/graph_drawing.h"

#include <unordered_map>
#include <vector>

namespace qs {

class Workspace;

/// Maps the entries of one form to those of the float model, and back. An entry is a row of the
/// form's tree, or a box around repeated blocks in the drawn tree. GUI thread only.
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
    /// True if the drawing shows this form.
    bool isDrawnIn(const GraphDrawingPtr& drawing) const;

    NodeId floatOf(NodeId id) const;
    /// The units of the form's tree that originate from the unit of a float node.
    std::vector<int> unitsOfFloat(NodeId id) const;
    /// The float entry for an entry of this form; -1 for an entry that conversion added, and for a
    /// box, which has several.
    int floatEntry(const FoldTree& drawn, int entry) const;
    /// The float entries for an entry of this form: for a box, one per block.
    std::vector<int> floatEntries(const FoldTree& drawn, int entry) const;
    /// True if a node inside passes the user's verdict filter.
    bool passesFilter(const FoldTree& drawn, int entry) const;
    /// Entries of the form's tree that the selection covers.
    std::vector<int> selectedEntries() const;
    /// True if every node inside these entries of the float tree is selected.
    bool areSelected(const std::vector<int>& floatEntries) const;
    void deselect(const std::vector<int>& floatEntries);
    /// If the selection is exactly the blocks of one box: these blocks, as float entries; else
    /// empty.
    std::vector<int> selectedBlocks(const GraphDrawing& drawing) const;

private:
    Workspace& m_workspace;
    GraphForm m_form;
    std::unordered_map<NodeId, std::vector<int>> m_unitsOfFloat; ///< of a converted form
};

} // namespace qs
