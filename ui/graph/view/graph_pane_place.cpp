// SPDX-License-Identifier: GPL-3.0-or-later
// GraphPane: placement of its parts, its state, and the boxes around repeated blocks.
#include "ui/graph/node_by_name.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/view/body_pane.h"
#include "ui/graph/view/graph_header.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/graph/view/minimap.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QPainter>
#include <QSplitter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kFooterMargin = 8, kMapWidth = 76;
const QString kRunsTag = QStringLiteral("blockRuns"), kBoxesTag = QStringLiteral("boxTree");

} // namespace

GraphPane::State GraphPane::state() const
{
    const auto& view = m_main->view();
    return {m_open.paths(), m_form,
            m_otherForm,    m_split,
            m_colourBy,     m_colourChosen,
            view.zoom(),    view.mapToScene(view.viewport()->rect().center()),
            m_trace,        m_range,
            m_open.runs()};
}

void GraphPane::setState(const State& state)
{
    if (!m_workspace.foldTree())
        return;
    m_freshModel = false;
    m_modelNumber = m_workspace.document().modelNumber();
    m_open.setPaths(state.expanded);
    if (state.runs)
        m_open.setRuns(state.runs);
    for (auto* side : {m_main, m_other})
        side->setRuns(m_open.runs());
    m_form = state.form;
    m_otherForm = state.otherForm;
    m_split = state.split;
    m_colourChosen = state.colourChosen;
    m_arriving = state;
    showForms(true);
    setColourBy(state.colourBy);
    m_range = state.range;
    setTrace(state.trace);
}

void GraphPane::revealNamed(const QString& name)
{
    m_wantedName = name;
    revealWanted();
}

void GraphPane::revealWanted()
{
    if (m_wantedName.isEmpty() || !m_workspace.foldTree())
        return;
    std::vector<CodeForm> forms {m_form};
    forms.insert(forms.end(), kCodeForms.begin(), kCodeForms.end());
    if (std::any_of(forms.begin(), forms.end(), [this](CodeForm form) { return revealIn(form); })) {
        m_wantedName.clear();
    } else if (m_forms->isPending()) {
        m_forms->want();
    } else {
        Q_EMIT notFound(std::exchange(m_wantedName, {}));
    }
}

bool GraphPane::revealIn(CodeForm form)
{
    const GraphForm shown = m_forms->form(form);
    const NodeId node = shown.graph && shown.tree
        ? drawnNodeNamed(*shown.graph, *shown.tree, m_wantedName.toStdString())
        : NodeId();
    if (!node)
        return false;
    m_body->close();
    if (form != m_form)
        showForm(form);
    const int entry = shown.tree->unitOf(node);
    m_open.openAround(*shown.graph, *shown.tree, entry);
    m_main->reveal(entry);
    relayout(true);
    return true;
}

void GraphPane::findRuns(bool fresh)
{
    const GraphPtr model = m_workspace.document().model();
    const FoldTreePtr tree = m_workspace.foldTree();
    if (!model || !tree)
        return;
    struct Found
    {
        RepeatedModulesPtr repeats;
        BlockRunsPtr runs;
        std::set<std::string> first;
    };
    m_findingRuns = true;
    m_findingFirst |= fresh;
    // In a large model this takes a third of a second.
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kRunsTag,
        [model, tree, boxes = m_boxesRepeats, repeats = m_workspace.knownRepeats()](JobContext&) {
            Found out {repeats, std::make_shared<const BlockRuns>(), {}};
            if (boxes) {
                out.repeats = repeats ? repeats : RepeatedModules::find(*model);
                out.runs
                    = std::make_shared<const BlockRuns>(findBlockRuns(*model, *tree, *out.repeats));
            }
            out.first = OpenModules::firstPaths(*model, tree, *out.runs);
            return out;
        },
        this,
        [this, model, tree](Found found) {
            m_findingRuns = false;
            m_workspace.takeRepeats(model, std::move(found.repeats));
            if (tree != m_workspace.foldTree())
                return;
            const bool first = std::exchange(m_findingFirst, false);
            if (first)
                m_open.setPaths(std::move(found.first));
            m_open.foldNewWraps(*tree);
            takeRuns(std::move(found.runs), first);
        });
}

void GraphPane::takeRuns(BlockRunsPtr runs, bool fresh)
{
    const bool changed = *runs != *m_open.runs();
    m_open.setRuns(std::move(runs));
    for (auto* side : {m_main, m_other}) {
        side->setRuns(m_open.runs());
        const CodeForm form = side == m_main ? m_form : m_otherForm;
        if (fresh && form == CodeForm::Float)
            side->showWholeAfterLayout();
        if (form == CodeForm::Float || changed)
            side->relayout(m_open.paths(), !fresh);
    }
}

void GraphPane::passBoxes()
{
    const FoldTreePtr& tree = m_workspace.foldTree();
    const GraphPtr& model = m_workspace.document().model();
    if (!tree || !model)
        return;
    for (auto* side : {m_main, m_other})
        if (const auto& drawing = side->view().graphScene().drawing();
            drawing && &drawing->tree->ungrouped() == tree.get()) {
            takeBoxes(drawing->tree);
            return;
        }
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kBoxesTag,
        [model, tree, runs = m_open.runs(), open = m_open.paths()](JobContext&) {
            return groupedTree(*model, tree, *runs, open);
        },
        this, [this](FoldTreePtr grouped) { takeBoxes(std::move(grouped)); });
}

void GraphPane::takeBoxes(FoldTreePtr grouped)
{
    if (&grouped->ungrouped() != m_workspace.foldTree().get())
        return;
    m_boxes = std::move(grouped);
    Q_EMIT boxesChanged(m_boxes);
}

void GraphPane::setBoxOpen(const QString& key, bool open)
{
    const std::string path = key.toStdString();
    if (!m_boxes || (m_open.paths().count(path) > 0) == open)
        return;
    for (int box = int(m_boxes->ungrouped().size()); box < int(m_boxes->size()); ++box)
        if (m_boxes->entry(box).path == path) {
            m_open.toggle(*m_boxes, box, false);
            relayout(true);
            return;
        }
}

void GraphPane::setBoxesRepeats(bool boxes)
{
    m_boxesRepeats = boxes;
    findRuns(false);
}

void GraphPane::setFlow(Flow flow)
{
    if (flow == m_flow)
        return;
    m_flow = flow;
    for (auto* side : {m_main, m_other})
        side->setFlow(flow);
    m_body->setFlow(flow);
    place();
    relayout(false);
}

bool GraphPane::toggleSelectedBox(bool open, bool next)
{
    const auto selected = m_workspace.selectedEntries();
    if (!m_main->isDrawn() || selected.empty())
        return false;
    const FoldTree& tree = m_main->drawnTree();
    const bool all = !m_main->selectedBlocks().empty();
    // In another form, the counterpart of the selection is found by its path.
    int box = m_main->drawnEntry(selected.front());
    const int around = box > FoldTree::kRoot ? tree.entry(box).parent : box;
    while (box > FoldTree::kRoot && tree.entry(box).repeats == 0)
        box = tree.entry(box).parent;
    if (next && box != around)
        return false;
    const bool isOpen = box > FoldTree::kRoot && expanded().count(tree.entry(box).path) > 0;
    if (box <= FoldTree::kRoot || isOpen == open || (open && !all))
        return false;
    toggleModule(*m_main, tree, box, false);
    return true;
}

void GraphPane::unfoldBlock(int index)
{
    const auto& tree = *m_workspace.foldTree();
    m_open.openAround(*m_workspace.document().model(), tree, index);
    m_workspace.selectEntry(index);
    m_main->revealAfterLayout();
    relayout(true);
}

QSize GraphPane::minimumSizeHint() const
{
    return {m_header->minimumSizeHint().width(), px(120)};
}

void GraphPane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void GraphPane::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().panel);
    if (!m_legend->isHidden())
        p.fillRect(0, m_views->geometry().bottom() + 1, width(), 1, theme().border);
}

void GraphPane::showMinimap()
{
    const auto& drawing = view().graphScene().drawing();
    const int strip = px(kMapWidth);
    const bool isShown = !m_minimap->isHidden();
    bool wanted = false;
    if (drawing && m_header->isMapWanted()) {
        // Decided by the room without the minimap, so that showing it does not change the result.
        const double taken = isShown ? strip / view().pixelScale() / 2 : 0;
        const QPointF room = drawing->flow == Flow::Down ? QPointF(taken, 0) : QPointF(0, taken);
        const QRectF seen = view().mapToScene(view().viewport()->rect()).boundingRect();
        wanted = !seen.adjusted(-room.x(), -room.y(), room.x(), room.y()).contains(drawing->bounds);
    }
    view().setReserved(m_header->isMapWanted() && !wanted ? strip : 0);
    if (wanted == isShown)
        return;
    m_minimap->setVisible(wanted);
    place();
}

void GraphPane::place()
{
    const int header = m_header->place(width(), m_views->x() + otherView().x());
    m_header->setGeometry(0, 0, width(), header);
    m_legend->setRoom(width() - 2 * kFooterMargin);
    const int footer = m_legend->isHidden() ? 0 : m_legend->height() + 1;
    const int strip = m_minimap->isHidden() ? 0 : px(kMapWidth);
    QRect canvas(0, header, width(), std::max(0, height() - header - footer));
    // The minimap is beside a downward graph, above one that runs to the right.
    if (m_flow == Flow::Down) {
        m_minimap->setGeometry(0, canvas.top(), strip, canvas.height());
        canvas.setLeft(strip);
    } else {
        m_minimap->setGeometry(0, canvas.top(), width(), strip);
        canvas.setTop(std::min(canvas.top() + strip, canvas.bottom() + 1));
    }
    m_body->setGeometry(rect());
    m_legend->move(width() - kFooterMargin - m_legend->width(), canvas.bottom() + 2);
    update();
    m_views->setGeometry(canvas); // last: resizing a view may resize this pane
}

} // namespace qs
