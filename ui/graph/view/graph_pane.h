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

/// The centre of the window: one form of the model as a graph, or two side by side. Both share
/// folding, colours, selection and camera. The controls are in a header above the canvas, the
/// legend in a footer, the minimap in a column beside it: nothing covers a node. GUI thread only.
class GraphPane : public QWidget
{
    Q_OBJECT

public:
    /// The nodes highlighted for the selection.
    enum class Trace
    {
        None,
        Before, ///< everything that the selection is computed from
        After ///< everything computed from the selection
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
        BlockRunsPtr runs {}; ///< drawn as boxes
    };

    explicit GraphPane(Workspace& workspace, QWidget* parent = nullptr);

    State state() const;
    /// Shows the document's model in this state.
    void setState(const State& state);
    QSize minimumSizeHint() const override;

    GraphView& view() { return m_main->view(); }
    /// The second view; hidden unless two forms are shown.
    GraphView& otherView() { return m_other->view(); }
    ColourBy colourBy() const { return m_colourBy; }
    void setColourBy(ColourBy by);
    /// The colours that the user chose; empty without a choice. After a choice, results no longer
    /// change the colours.
    std::optional<ColourBy> chosenColour() const;
    void chooseColour(ColourBy by);
    /// Chooses the colours of imported data, as the user's choice.
    void showImported();
    CodeForm form() const { return m_form; }
    CodeForm otherForm() const { return m_otherForm; }
    bool isSplit() const { return m_split; }
    void showForm(CodeForm form);
    void showOtherForm(CodeForm form);
    void setSplit(bool split);
    /// True if every shown view has its final layout.
    bool isLayoutDone() const;
    /// Paths of the open modules.
    const std::set<std::string>& expanded() const { return m_open.paths(); }
    void setExpanded(std::set<std::string> paths)
    {
        m_open.setPaths(std::move(paths));
        relayout(true);
    }
    /// `entry` is one of the workspace's tree.
    void toggleFold(int entry, bool recursively);
    /// Opens the module and all its repeats, or folds them if it is open.
    void toggleRepeats(int entry);
    /// Sets whether repeated blocks are drawn as one box.
    void setBoxesRepeats(bool boxes);
    /// Sets the direction of the graph.
    void setFlow(Flow flow);
    /// The blocks of the selected box, as entries of the workspace's tree; else empty.
    std::vector<int> selectedBlocks() const { return m_main->selectedBlocks(); }
    /// Takes a block out of its box and opens it.
    void unfoldBlock(int entry);
    /// `open`: unfolds all blocks of the selected box; else folds the opened box around the
    /// selection. False without such a box; with `next` also if another box or module encloses the
    /// selection more closely.
    bool toggleSelectedBox(bool open, bool next = false);
    /// Unfolds or folds all blocks of the box; no effect if it is already so.
    void setBoxOpen(const QString& key, bool open);
    void expandAll();
    void foldAll();
    /// Unfolds the modules that hide the selection and brings it into view.
    void revealSelection();
    /// Selects the node for the name (`drawnNodeNamed`) and brings it into view, in the shown form,
    /// else in the first form that has it. Emits `notFound` if no form has it.
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
    /// For the selected edge.
    void edgeMenuWanted(const QPoint& at);
    void notFound(const QString& name);
    /// The float tree with its boxes, for any shown form: the boxes or the unfolded entries may
    /// have changed.
    void boxesChanged(const qs::FoldTreePtr& grouped);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void buildSide(GraphSide& side);
    void onTreeChanged();
    /// Finds the runs of blocks on a pool thread; the layout follows. `fresh`: for a newly opened
    /// model.
    void findRuns(bool fresh);
    void takeRuns(BlockRunsPtr runs, bool fresh);
    /// Emits the grouped float tree: the drawn one, else one that is grouped on a pool thread.
    void passBoxes();
    void takeBoxes(FoldTreePtr grouped);
    /// Gives both sides their forms, if these are made, and lays them out.
    void showForms(bool keepPlace);
    void relayout(bool keepPlace);
    void toggleModule(GraphSide& side, const FoldTree& tree, int entry, bool recursively);
    void togglePaths(const std::string& first, std::span<const std::string> paths);
    void restyle();
    void retrace();
    /// Moves the follower's camera after the moved view's in a split view. Ignores the resulting
    /// signal of the follower.
    void link(GraphSide& moved, GraphSide& follower);
    /// Places header, canvas with minimap, and footer.
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
    QString m_wantedName; ///< revealed when the converted forms are made
    std::optional<State> m_arriving; ///< its camera is set after the layout
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
    bool m_following = false; ///< one view is following the other
};

} // namespace qs
