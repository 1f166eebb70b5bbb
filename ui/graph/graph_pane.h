// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_view.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QButtonGroup;

namespace qs {

class BodyPane;
class Legend;
class Minimap;
class Workspace;

/// The centre of the window: the graph with its folding, colours, minimap and legend. Layout runs
/// on a pool thread; the newest request wins. GUI thread only.
class GraphPane : public QWidget
{
    Q_OBJECT

public:
    explicit GraphPane(Workspace& workspace, QWidget* parent = nullptr);

    GraphView& view() { return *m_view; }
    ColourBy colourBy() const { return m_colourBy; }
    void setColourBy(ColourBy by);
    bool isLayoutDone() const { return m_layoutDone; }
    /// Modules now open, by path.
    const std::set<std::string>& expanded() const { return m_expanded; }
    void toggleFold(int entry, bool recursively);
    void expandAll();
    void foldAll();
    /// Unfolds what hides the selection and brings it into view.
    void revealSelection();
    void fit() { m_view->fitAll(); }
    /// Looks into the first of the nodes that has a body; nothing where none has.
    void lookInside(const std::vector<NodeId>& nodes);
    BodyPane& body() { return *m_body; }
    void zoomReset() { m_view->setZoom(1); }

Q_SIGNALS:
    void layoutFinished();
    /// A quick picture of what is being laid out is on the screen.
    void coarseShown();
    void contextMenuWanted(int entry, const QPoint& at);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void onTreeChanged();
    void foldNewWraps();
    void relayout(bool keepPlace);
    void showDrawing(GraphDrawingPtr drawing, bool keepPlace);
    void restyle();
    void syncSelection();
    void placeOverlays();
    std::set<int> expandedEntries() const;

    Workspace& m_workspace;
    GraphView* m_view;
    Minimap* m_minimap;
    Legend* m_legend;
    BodyPane* m_body;
    QComboBox* m_colourBox;
    QWidget* m_colourFrame;
    ColourBy m_colourBy = ColourBy::Verdict;
    std::optional<ScaleRange> m_range; ///< the part of the scale that is looked at
    std::set<std::string> m_expanded;
    std::set<std::string> m_wrapped; ///< paths that the recipe shows as one node
    bool m_freshModel = true;
    bool m_layoutDone = false;
    bool m_revealAfterLayout = false;
    bool m_colourChosen = false;
};

} // namespace qs
