// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_pane.h"

#include "ui/graph/repeated_blocks.h"
#include "ui/graph/style/colour_box.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/trace.h"
#include "ui/graph/view/body_pane.h"
#include "ui/graph/view/form_bar.h"
#include "ui/graph/view/graph_header.h"
#include "ui/graph/view/minimap.h"
#include "ui/session/workspace.h"
#include "ui/style/widgets.h"

#include <QSplitter>

namespace qs {

GraphPane::GraphPane(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_forms(new GraphForms(workspace, this))
    , m_views(makeSplitter("formHalves", Qt::Horizontal, this))
    , m_main(new GraphSide(workspace, *new GraphView(m_views), QStringLiteral("layout"), this))
    , m_other(
          new GraphSide(workspace, *new GraphView(m_views), QStringLiteral("otherLayout"), this))
    , m_minimap(new Minimap(m_main->view(), this))
    , m_legend(new Legend(this))
    , m_header(new GraphHeader(this))
    , m_body(new BodyPane(workspace, this))
{
    setObjectName(QStringLiteral("graphPane"));
    setNames(otherView(), "otherGraphView", tr("Graph of the form beside it"));
    otherView()
        .findChild<QWidget*>(QStringLiteral("graphBand"))
        ->setObjectName(QStringLiteral("otherGraphBand"));
    m_header->colourBox().setColourBy(m_colourBy);
    connect(m_header, &GraphHeader::mapWantedChanged, this, &GraphPane::showMinimap);
    connect(&m_header->colourBox(), &ColourBox::chosen, this, &GraphPane::chooseColour);
    connect(&workspace, &Workspace::treeChanged, this, &GraphPane::onTreeChanged);
    connect(&workspace, &Workspace::factsChanged, this, &GraphPane::restyle);
    connect(&workspace, &Workspace::filterChanged, this, &GraphPane::restyle);
    connect(&workspace.styleRules(), &StyleRules::changed, this, &GraphPane::restyle);
    connect(&workspace.document(), &Document::modelChanged, this, [this] {
        m_colourChosen = false;
        m_trace = Trace::None;
        m_traced.clear();
        m_wantedName.clear();
        m_form = CodeForm::Float;
        m_split = false;
        showForms(false);
        setColourBy(ColourBy::Verdict);
    });
    connect(&workspace.pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        const auto& made = m_workspace.document().comparison(); // null if an edit came meanwhile
        if (stage == Stage::Compare && made && !m_colourChosen)
            setColourBy(made->againstOriginal ? ColourBy::Cumulative : ColourBy::BornHere);
    });
    connect(&workspace.document(), &Document::resultsChanged, this, [this] {
        // Against the original model only the cumulative term has numbers.
        const auto& comparison = m_workspace.document().comparison();
        if (comparison && comparison->againstOriginal && isErrorColour(m_colourBy)
            && m_colourBy != ColourBy::Cumulative)
            setColourBy(ColourBy::Cumulative);
    });
    connect(&workspace.causes(), &CauseFinder::found, this, [this] {
        if (!m_colourChosen)
            setColourBy(ColourBy::Noise);
    });
    connect(&workspace.selection(), &Selection::changed, this, &GraphPane::retrace);
    connect(m_forms, &GraphForms::changed, this, [this] {
        showForms(true);
        if (!m_wantedName.isEmpty() && !m_forms->isPending())
            revealWanted();
    });
    connect(&m_header->formBar(), &FormBar::formChosen, this, &GraphPane::showForm);
    connect(&m_header->formBar(), &FormBar::splitChosen, this, &GraphPane::setSplit);
    connect(&m_header->otherBar(), &FormBar::formChosen, this, &GraphPane::showOtherForm);
    connect(m_views, &QSplitter::splitterMoved, this, &GraphPane::place);
    connect(&view(), &GraphView::viewChanged, this, &GraphPane::showMinimap);
    connect(m_legend, &Legend::rangeChosen, this, [this](const ScaleRange& range, bool whole) {
        m_range = whole ? std::nullopt : std::optional(range);
        restyle();
    });
    buildSide(*m_main);
    buildSide(*m_other);
    connect(m_body, &BodyPane::closed, &view(), [this] { view().setFocus(); });
    m_minimap->hide();
    m_legend->hide();
    otherView().hide();
}

void GraphPane::buildSide(GraphSide& side)
{
    auto& view = side.view();
    connect(&view, &GraphView::foldToggled, this, [this, &side](int entry, bool recursively) {
        if (side.isDrawn())
            toggleModule(side, side.drawnTree(), entry, recursively);
    });
    connect(&view, &GraphView::contextMenuWanted, this, [this, &side](int entry, const QPoint& at) {
        int chosen = side.isDrawn() ? side.floatEntry(entry) : -1;
        if (side.isDrawn() && side.drawnTree().entry(entry).repeats > 0) {
            side.select(entry, false);
            const auto selected = m_workspace.selectedEntries();
            chosen = selected.empty() ? -1 : selected.front(); // a box: its first selected entry
        }
        if (chosen >= 0)
            Q_EMIT contextMenuWanted(chosen, at);
    });
    connect(&view, &GraphView::edgeMenuWanted, this, &GraphPane::edgeMenuWanted);
    connect(&view, &GraphView::entryActivated, this, [this, &side](int entry) {
        if (const int chosen = side.isDrawn() ? side.floatEntry(entry) : -1; chosen >= 0)
            openBody(m_workspace.foldTree()->entry(chosen).members);
    });
    connect(&view, &GraphView::activateWanted, this,
            [this] { openBody(m_workspace.selection().nodes()); });
    auto& beside = &side == m_main ? *m_other : *m_main;
    connect(&view, &GraphView::viewChanged, this, [this, &side, &beside] { link(side, beside); });
    connect(&side, &GraphSide::coarseShown, this, [this] {
        restyle();
        Q_EMIT coarseShown();
    });
    connect(&side, &GraphSide::layoutFinished, this, [this] {
        restyle();
        if (m_arriving && m_main->isDone()) {
            m_main->view().setZoom(m_arriving->zoom);
            m_main->view().centerOn(m_arriving->middle);
            m_arriving.reset();
        }
        showMinimap();
        link(*m_main, *m_other);
        if (isLayoutDone()) {
            passBoxes();
            Q_EMIT layoutFinished();
        }
    });
}

void GraphPane::link(GraphSide& moved, GraphSide& follower)
{
    if (!m_split || m_following || !moved.isDone() || !follower.isDone())
        return;
    m_following = true;
    follower.follow(moved);
    m_following = false;
}

bool GraphPane::isLayoutDone() const
{
    return !m_findingRuns && m_main->isDone() && (!m_split || m_other->isDone());
}

void GraphPane::openBody(std::span<const NodeId> nodes)
{
    for (const NodeId id : nodes)
        if (const NodePtr owner = m_workspace.facts().bodyOwner(id)) {
            m_body->close();
            m_body->open(owner);
            return;
        }
}

void GraphPane::setColourBy(ColourBy by)
{
    if (by != m_colourBy)
        m_range.reset();
    m_colourBy = by;
    m_header->colourBox().setColourBy(by);
    place();
    restyle();
}

std::optional<ColourBy> GraphPane::chosenColour() const
{
    return m_colourChosen ? std::optional(m_colourBy) : std::nullopt;
}

void GraphPane::chooseColour(ColourBy by)
{
    m_colourChosen = true;
    setColourBy(by);
}

void GraphPane::showImported()
{
    chooseColour(ColourBy::Imported);
}

void GraphPane::showForm(CodeForm form)
{
    m_form = form;
    showForms(true);
}

void GraphPane::showOtherForm(CodeForm form)
{
    m_otherForm = form;
    showForms(true);
}

void GraphPane::setSplit(bool split)
{
    m_split = split;
    if (split && m_otherForm == m_form)
        m_otherForm = m_form == CodeForm::Float ? CodeForm::Lowered : CodeForm::Float;
    showForms(true);
}

bool GraphPane::needsConversion() const
{
    return m_form != CodeForm::Float || (m_split && m_otherForm != CodeForm::Float);
}

void GraphPane::showForms(bool keepPlace)
{
    if (needsConversion())
        m_forms->want();
    m_header->formBar().setForm(m_form);
    m_header->formBar().setSplit(m_split);
    m_header->otherBar().setForm(m_otherForm);
    otherView().setVisible(m_split);
    m_header->otherBar().setVisible(m_split);
    if (m_split && m_views->sizes().value(1) < 80)
        m_views->setSizes({width() / 2, width() / 2});
    m_header->setNote(needsConversion() ? m_forms->note() : QString());
    const auto show = [&](GraphSide& side, const GraphForm& form) {
        const bool fresh = form.tree != side.form().tree || form.graph != side.form().graph;
        side.setForm(form);
        if (fresh) {
            side.revealAfterLayout();
            side.relayout(m_open.paths(), keepPlace);
        }
    };
    show(*m_main, m_forms->form(m_form));
    show(*m_other, m_split ? m_forms->form(m_otherForm) : GraphForm());
    restyle();
}

void GraphPane::onTreeChanged()
{
    const auto& tree = m_workspace.foldTree();
    if (!tree) {
        m_main->setForm({});
        m_other->setForm({});
        return;
    }
    // For a new model, this signal may arrive before `modelChanged`.
    m_freshModel |= m_modelNumber != m_workspace.document().modelNumber();
    m_modelNumber = m_workspace.document().modelNumber();
    const bool fresh = m_freshModel;
    // The plan follows and joins fused nodes; the view is then placed again.
    m_freshModel = fresh && m_workspace.document().plan() == nullptr;
    if (m_form == CodeForm::Float)
        m_main->setForm(m_forms->form(CodeForm::Float));
    if (m_split && m_otherForm == CodeForm::Float)
        m_other->setForm(m_forms->form(CodeForm::Float));
    findRuns(fresh);
}

void GraphPane::relayout(bool keepPlace)
{
    m_main->relayout(m_open.paths(), keepPlace);
    if (m_split)
        m_other->relayout(m_open.paths(), keepPlace);
}

void GraphPane::restyle()
{
    m_header->colourBox().offerImported(m_workspace.document().nodeData() != nullptr);
    const auto* traced = m_trace == Trace::None ? nullptr : &m_traced;
    if (m_main->form().tree)
        m_legend->setStyle(m_main->restyle(m_colourBy, m_range, traced));
    if (m_split && m_other->form().tree)
        m_other->restyle(m_colourBy, m_range, traced);
    m_minimap->repaintGraph();
    place();
}

void GraphPane::setTrace(Trace trace)
{
    m_trace = trace;
    restyle(); // needed if nothing is traced
    retrace();
}

void GraphPane::retrace()
{
    if (m_trace == Trace::None || !m_workspace.document().model())
        return;
    const Selection& selection = m_workspace.selection();
    const bool after = m_trace == Trace::After;
    const auto& edge = selection.edge(); // traces from its reader, or back from its value
    m_traced = tracedNodes(*m_workspace.document().model(),
                           edge ? std::vector {after ? edge->reader.node : edge->value.node}
                                : selection.nodes(),
                           after);
    restyle();
}

void GraphPane::toggleFold(int index, bool recursively)
{
    toggleModule(*m_main, *m_workspace.foldTree(), index, recursively);
}

void GraphPane::toggleModule(GraphSide& side, const FoldTree& tree, int index, bool recursively)
{
    const auto& entry = tree.entry(index);
    if (!entry.isModule() || index == FoldTree::kRoot)
        return;
    m_open.toggle(tree, index, recursively);
    if (entry.repeats > 0)
        side.select(index, false);
    else
        m_workspace.selectEntry(m_workspace.foldTree()->moduleEntry(entry.path));
    m_main->revealAfterLayout();
    relayout(true);
}

/// Opens all paths if `first` is folded, else folds them.
void GraphPane::togglePaths(const std::string& first, std::span<const std::string> paths)
{
    m_open.toggle(first, paths);
    m_workspace.selectEntry(m_workspace.foldTree()->moduleEntry(first));
    m_main->revealAfterLayout();
    relayout(true);
}

void GraphPane::toggleRepeats(int index)
{
    const auto& tree = *m_workspace.foldTree();
    if (!tree.entry(index).isModule() || index == FoldTree::kRoot)
        return;
    const std::string path = tree.entry(index).path;
    const auto repeats = m_workspace.repeats().of(path);
    togglePaths(path, repeats.empty() ? std::span(&path, 1) : repeats);
}

void GraphPane::expandAll()
{
    // In the prepared form a single float unit may be a module that also holds its observer.
    for (const FoldTreePtr& tree :
         {m_workspace.foldTree(), m_main->form().tree, m_other->form().tree})
        if (tree)
            m_open.openAll(*tree);
    relayout(false);
}

void GraphPane::foldAll()
{
    m_open.foldAll();
    relayout(false);
}

void GraphPane::revealSelection()
{
    const auto& tree = m_workspace.foldTree();
    const auto entries = m_workspace.selectedEntries();
    if (!tree || entries.empty())
        return;
    // A box that is selected as a whole stays folded.
    const bool isGrouped = m_boxes && &m_boxes->ungrouped() == tree.get();
    const auto boxes
        = isGrouped ? boxesWithin(*m_boxes, m_workspace.selection().nodes()) : std::vector<int>();
    const bool isBox = boxes.size() == 1 && !m_workspace.selection().isModule()
        && m_boxes->isWithin(entries.front(), boxes.front());
    const bool opened = m_main->selectedBlocks().empty()
        && m_open.openAround(*m_workspace.document().model(), isBox ? *m_boxes : *tree,
                             isBox ? boxes.front() : entries.front());
    if (opened || !m_main->isDone()) {
        m_main->revealAfterLayout();
        relayout(true);
    } else {
        m_main->centerOnSelection(true);
    }
}

} // namespace qs
