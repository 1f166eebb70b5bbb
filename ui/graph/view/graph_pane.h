// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/open_modules.h"
#include "ui/graph/view/graph_side.h"

#include <QWidget>

#include <optional>

class QSplitter;

namespace qs {

class BodyPane;
class GraphHeader;
class Legend;
class Minimap;
class Workspace;

/// The centre of the window: one form of the model as a graph, or two side by side, with folding,
/// colours, minimap and legend. Folding, colours, selection and camera are those of both. Controls
/// stand in a header above the canvas, the legend in a footer, the minimap in a column beside it:
/// nothing lies on a node. GUI thread only.
class GraphPane : public QWidget
{
    Q_OBJECT

public:
    /// The nodes highlighted for the selection.
    enum class Trace
    {
        None,
        Before, ///< all that it is computed from
        After ///< all that is computed from it
    };

    /// The state of the view, for another pane of the same document. A value.
    struct State
    {
        std::set<std::string> expanded;
        CodeForm form = CodeForm::Float, otherForm = CodeForm::Lowered;
        bool split = false;
        ColourBy colourBy = ColourBy::Verdict;
        bool colourChosen = false;
        double zoom = 1;
        QPointF middle;
        Trace trace = Trace::None;
        std::optional<ScaleRange> range {}; ///< the part of the scale that is looked at
        BlockRunsPtr runs {}; ///< that stand in one box
    };

    explicit GraphPane(Workspace& workspace, QWidget* parent = nullptr);

    State state() const;
    /// Takes over the document's model, and shows it as `state` says.
    void setState(const State& state);
    QSize minimumSizeHint() const override;

    GraphView& view() { return m_main->view(); }
    /// The view beside it; hidden unless two forms are shown.
    GraphView& otherView() { return m_other->view(); }
    ColourBy colourBy() const { return m_colourBy; }
    void setColourBy(ColourBy by);
    /// The user's choice, which a comparison's end leaves as it is; empty without one.
    std::optional<ColourBy> chosenColour() const;
    void chooseColour(ColourBy by);
    /// Colours what another program measured, and stays with it.
    void showImported();
    CodeForm form() const { return m_form; }
    CodeForm otherForm() const { return m_otherForm; }
    bool isSplit() const { return m_split; }
    void showForm(CodeForm form);
    void showOtherForm(CodeForm form);
    void setSplit(bool split);
    /// Every view that is shown has its final layout.
    bool isLayoutDone() const;
    /// Modules now open, by path.
    const std::set<std::string>& expanded() const { return m_open.paths(); }
    void setExpanded(std::set<std::string> paths)
    {
        m_open.setPaths(std::move(paths));
        relayout(true);
    }
    /// `entry` is one of the workspace's tree.
    void toggleFold(int entry, bool recursively);
    /// Opens the module and every block that is the same again, or folds them all where it is open.
    void toggleRepeats(int entry);
    /// Whether repeated blocks stand in one box.
    void setBoxesRepeats(bool boxes);
    /// Which way the graph runs.
    void setFlow(Flow flow);
    /// The blocks of the box that is selected, as entries of the workspace's tree; else empty.
    std::vector<int> selectedBlocks() const { return m_main->selectedBlocks(); }
    /// Takes a block out of its box and opens it.
    void unfoldBlock(int entry);
    /// Unfolds all blocks of the selected box, or folds the opened box that the selection lies in.
    /// False without such a box; with `next` also if another box or module is nearer.
    bool toggleSelectedBox(bool open, bool next = false);
    /// Unfolds all blocks of the box, or folds them; nothing where it is so already.
    void setBoxOpen(const QString& key, bool open);
    void expandAll();
    void foldAll();
    /// Unfolds the modules that hide the selection and brings it into view.
    void revealSelection();
    /// Selects and brings into view the node for the name (`drawnNodeNamed`), in the shown form if
    /// that has it, else in the first that has it; emits `notFound` if none has it.
    void revealNamed(const QString& name);
    void fit() { view().fitAll(); }
    Trace trace() const { return m_trace; }
    void setTrace(Trace trace);
    /// Opens the body of the first of the nodes that has one; no effect without one.
    void openBody(std::span<const NodeId> nodes);
    BodyPane& body() { return *m_body; }
    void zoomReset() { view().setZoom(1); }

Q_SIGNALS:
    void layoutFinished();
    /// The coarse picture of the pending layout is on the screen.
    void coarseShown();
    void contextMenuWanted(int entry, const QPoint& at);
    /// For the edge that is selected.
    void edgeMenuWanted(const QPoint& at);
    void notFound(const QString& name);
    /// The float tree with the boxes around repeated blocks, after they or what is unfolded may
    /// have changed; whichever form is shown.
    void boxesChanged(const qs::FoldTreePtr& grouped);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void buildSide(GraphSide& side);
    void onTreeChanged();
    /// Finds the blocks that stand in one box on a pool thread; the layout follows. `fresh`: of a
    /// model that is seen for the first time.
    void findRuns(bool fresh);
    void takeRuns(BlockRunsPtr runs, bool fresh);
    /// Passes the float tree on as it is drawn, or groups it where it is not.
    void passBoxes();
    void takeBoxes(FoldTreePtr grouped);
    /// Gives both sides their forms, where they are there, and lays them out.
    void showForms(bool keepPlace);
    void relayout(bool keepPlace);
    void toggleModule(GraphSide& side, const FoldTree& tree, int entry, bool recursively);
    void togglePaths(const std::string& first, std::span<const std::string> paths);
    void restyle();
    void retrace();
    /// Moves one view after the other, unless it is the other that moves.
    void link(GraphSide& moved, GraphSide& follower);
    /// Header, canvas with the minimap beside it, footer.
    void place();
    void showMinimap();
    bool needsConversion() const;
    bool revealIn(CodeForm form);
    void revealWanted();

    Workspace& m_workspace;
    GraphForms* m_forms;
    QSplitter* m_views;
    GraphSide* m_main;
    GraphSide* m_other;
    Minimap* m_minimap;
    Legend* m_legend;
    GraphHeader* m_header;
    BodyPane* m_body;
    QString m_wantedName; ///< to be found once the converted forms are there
    std::optional<State> m_arriving; ///< whose camera waits for the layout
    ColourBy m_colourBy = ColourBy::Verdict;
    CodeForm m_form = CodeForm::Float, m_otherForm = CodeForm::Lowered;
    bool m_split = false;
    std::optional<ScaleRange> m_range; ///< the part of the scale that is looked at
    Trace m_trace = Trace::None;
    std::unordered_set<NodeId> m_traced; ///< float nodes
    OpenModules m_open;
    bool m_boxesRepeats = true;
    bool m_findingRuns = false, m_findingFirst = false;
    FoldTreePtr m_boxes; ///< the float tree with its boxes
    Flow m_flow = Flow::Down;
    int m_modelNumber = 0; ///< of the model whose modules `m_open` names
    bool m_freshModel = true;
    bool m_colourChosen = false;
    bool m_following = false; ///< one view is being moved after the other
};

} // namespace qs
