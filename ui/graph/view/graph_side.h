// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/graph/view/edge_marks.h"
#endif
#include "ui/graph/form_entries.h"
#include "ui/graph/layout/block_runs.h"
#include "ui/graph/layout/level_layout.h"
#include "ui/graph/view/graph_view.h"

#include <set>
#include <unordered_set>

namespace qs {

/// One view of the graph pane and its form. Lays the form out on a pool thread (the newest request
/// wins; a slow layout is preceded by a coarse one), colours it, shows the selection, and maps
/// clicks to float nodes. GUI thread only.
class GraphSide : public QObject
{
    Q_OBJECT

public:
    GraphSide(Workspace& workspace, GraphView& view, QString tag, QObject* parent);

    GraphView& view() { return m_view; }
    const GraphForm& form() const { return m_entries.form(); }
    /// Sets the form; it is drawn by the next layout. An empty form shows nothing.
    void setForm(GraphForm form);
    /// Sets the blocks drawn as boxes and the direction for the next layout.
    void setRuns(BlockRunsPtr runs) { m_runs = std::move(runs); }
    void setFlow(Flow flow) { m_flow = flow; }
    void relayout(const std::set<std::string>& expanded, bool keepPlace);
    bool isDone() const { return m_done; }
    /// Updates the colours; unless `traced` is null, dims all but these float nodes.
    const GraphStyle& restyle(ColourBy by, const std::optional<ScaleRange>& range,
                              const std::unordered_set<NodeId>* traced);
    void syncSelection();
    /// Centres the selection after the next layout.
    void revealAfterLayout() { m_reveal = true; }
    /// Fits the whole graph after the next layout, instead of its start at a readable size.
    void showWholeAfterLayout() { m_whole = true; }
    void centerOnSelection(bool onlyIfHidden);
    /// Selects the nodes of the entry, and centres the entry after the next layout.
    void reveal(int entry);
    void select(int entry, bool extend);
    void selectAll(const std::vector<int>& entries, bool extend);
    /// Selects the target of an arrow key: the producer, a reader, the neighbour.
    void walk(Qt::Key key);
    /// True if the drawing shows the current form; else its entries are invalid until the next
    /// layout.
    bool isDrawn() const;
    /// The tree of the drawing, to which its entries belong; the form's while nothing is drawn.
    const FoldTree& drawnTree() const;
    /// The float entry of a drawn entry; -1 for one that conversion added, and for a box around
    /// blocks.
    int floatEntry(int entry) const { return m_entries.floatEntry(drawnTree(), entry); }
    /// The drawn entry of a float entry; -1 without one.
    int drawnEntry(int floatEntry) const;
    /// If the selection is exactly the blocks of one box: these blocks, as float entries; else
    /// empty.
    std::vector<int> selectedBlocks() const;
    /// Aligns the view with the other side's: puts the selected node, else the one nearest to its
    /// middle, at the same position.
    void follow(const GraphSide& other);

Q_SIGNALS:
    void layoutFinished();
    void coarseShown();

private:
    void run(LayoutQuality quality, bool keepPlace, const std::set<std::string>& expanded);
    QString coarseTag() const;
    void cancelCoarse();
    void show(GraphDrawingPtr drawing, bool keepPlace);
    /// The entry, added by conversion, whose click selected the edge; -1 without one.
    int addedEntry() const;
    /// Edge marks of the drawing; nothing without a drawing.
    std::optional<EdgeMarks> edgeMarks() const;
    /// The float node of origin of the first node inside a drawn node.
    NodeId floatOfDrawn(int node) const;
    QRectF rectOfFloat(NodeId id) const;
    QStringList valueLines(int entry) const;

    Workspace& m_workspace;
    GraphView& m_view;
    QString m_tag;
    FormEntries m_entries;
    BlockRunsPtr m_runs = std::make_shared<const BlockRuns>();
    Flow m_flow = Flow::Down;
    bool m_done = false, m_reveal = false, m_whole = false;
    int m_revealEntry = -1; ///< entry to centre; -1: the selection
    NodeId m_revealNode; ///< node to centre, from a form shown before: nodes keep their ids
    /// A chosen entry that conversion added, with its selected edge.
    std::pair<int, std::optional<Edge>> m_added {-1, {}};
    /// The last target of the keys, with the selection that it made.
    std::pair<int, std::vector<NodeId>> m_walked {-1, {}};
    int m_request = 0;
};

} // namespace qs
