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

/// One view of the graph pane and the form it shows: lays it out on a pool thread (the newest
/// request wins; where that takes long a coarse picture comes first), colours it, shows the
/// selection in it and takes clicks back to the float nodes that its nodes came from. GUI thread
/// only.
class GraphSide : public QObject
{
    Q_OBJECT

public:
    GraphSide(Workspace& workspace, GraphView& view, QString tag, QObject* parent);

    GraphView& view() { return m_view; }
    const GraphForm& form() const { return m_entries.form(); }
    /// Shows nothing until the next layout; an empty form shows nothing at all.
    void setForm(GraphForm form);
    /// Which blocks stand in one box, and which way the graph runs, from the next layout on.
    void setRuns(BlockRunsPtr runs) { m_runs = std::move(runs); }
    void setFlow(Flow flow) { m_flow = flow; }
    void relayout(const std::set<std::string>& expanded, bool keepPlace);
    bool isDone() const { return m_done; }
    /// Colours it anew; `traced` float nodes stand out, all others back, unless it is null.
    const GraphStyle& restyle(ColourBy by, const std::optional<ScaleRange>& range,
                              const std::unordered_set<NodeId>* traced);
    void syncSelection();
    /// Brings the selection into the middle once the layout is there.
    void revealAfterLayout() { m_reveal = true; }
    /// Fits the whole graph once the layout is there, instead of its start at a readable size.
    void showWholeAfterLayout() { m_whole = true; }
    void centerOnSelection(bool onlyIfHidden);
    /// Selects the nodes of the entry, and brings the entry itself into the middle once the next
    /// layout is there.
    void reveal(int entry);
    void select(int entry, bool extend);
    void selectAll(const std::vector<int>& entries, bool extend);
    /// Selects the target of an arrow key: the producer, a reader, the neighbour.
    void walk(Qt::Key key);
    /// True if the drawing is of the form; else the next layout replaces it, and its entries are
    /// invalid.
    bool isDrawn() const;
    /// The tree of the drawing, to which its entries belong; the form's while nothing is drawn.
    const FoldTree& drawnTree() const;
    /// The entry of the float tree for a drawn one; -1 for one that conversion added, and for a box
    /// around blocks.
    int floatEntry(int entry) const { return m_entries.floatEntry(drawnTree(), entry); }
    /// The drawn entry of one of the float tree; -1 without one.
    int drawnEntry(int floatEntry) const;
    /// The blocks of the box whose blocks are all that is selected, as entries of the float tree.
    std::vector<int> selectedBlocks() const;
    /// Puts the view where the other side's is: the node nearest to its middle at the same spot.
    void follow(const GraphSide& other);

Q_SIGNALS:
    void layoutFinished();
    void coarseShown();

private:
    void run(LayoutQuality quality, bool keepPlace, const std::set<std::string>& expanded);
    QString coarseTag() const;
    void cancelCoarse();
    void show(GraphDrawingPtr drawing, bool keepPlace);
    /// The entry that was chosen for the selected edge; -1 without one.
    int addedEntry() const;
    /// Edge marks of the drawing; nothing without a drawing.
    std::optional<EdgeMarks> edgeMarks() const;
    /// The float node that what is drawn came from first.
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
    int m_revealEntry = -1; ///< else what is selected
    NodeId m_revealNode; ///< the same of a form shown before: nodes keep their ids
    /// A chosen entry that conversion added, with its selected edge.
    std::pair<int, std::optional<Edge>> m_added {-1, {}};
    /// The last target of the keys, with the selection that it made.
    std::pair<int, std::vector<NodeId>> m_walked {-1, {}};
    int m_request = 0;
};

} // namespace qs
