// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_side.h"

#include "ui/graph/graph_walk.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/graph/stored_inside.h"
#include "ui/graph/style/apply_rules.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QTimer>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// A layout that takes longer is preceded by a coarse one.
constexpr int kPatienceMs = 350;
constexpr int kMostTipLines = 10;

NodeId firstNodeOf(const GraphForm& form, int entry)
{
    const auto members = form.tree ? form.tree->entry(entry).members : std::span<const NodeId>();
    return members.empty() ? NodeId() : members.front();
}

} // namespace

GraphSide::GraphSide(Workspace& workspace, GraphView& view, QString tag, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_tag(std::move(tag))
    , m_entries(workspace)
{
    connect(&view, &GraphView::entryClicked, this, [this](int entry, bool extend) {
        if (isDrawn())
            select(entry, extend);
    });
    connect(&view, &GraphView::entriesBanded, this,
            [this](const std::vector<int>& entries, bool extend) {
                if (isDrawn())
                    selectAll(entries, extend);
            });
    connect(&view, &GraphView::emptyClicked, this, [this] { m_workspace.selection().clear(); });
    const auto inspectValue = [this](const std::optional<Edge>& edge) {
        if (edge)
            m_workspace.selectEdge(*edge);
    };
    connect(&view, &GraphView::edgeClicked, this, [this, inspectValue](int stretch) {
        if (const auto marks = edgeMarks())
            inspectValue(marks->edgeOf(stretch));
    });
    connect(&view, &GraphView::namesClicked, this, [this, inspectValue](int node) {
        if (const auto marks = edgeMarks())
            inspectValue(marks->namedEdgeOf(node));
    });
    connect(&workspace, &Workspace::factsChanged, this, [this] {
        if (m_workspace.selection().edge())
            syncSelection();
    });
    connect(&view, &GraphView::walkWanted, this, &GraphSide::walk);
    connect(&workspace.selection(), &Selection::changed, this, &GraphSide::syncSelection);
    view.setTipLines([this](int entry) { return valueLines(entry); });
    connect(&workspace.previews(), &ValuePreviews::arrived, &view, &GraphView::refreshTip);
}

/// Returns lines on the stored values inside an entry that are read already; requests the others.
QStringList GraphSide::valueLines(int index) const
{
    QStringList lines;
    if (!isDrawn() || !m_entries.isFloat() || drawnTree().entry(index).isModule())
        return lines;
    const auto& entry = drawnTree().entry(index);
    for (const StoredValue& stored : storedInside(*form().graph, *form().tree, entry.members)) {
        if (lines.size() >= kMostTipLines)
            break;
        const ValuePreview* preview = m_workspace.previews().ask(stored.node);
        if (!preview)
            continue;
        const QString text = preview->text.empty() ? rangeText(*preview) : toQString(preview->text);
        lines << QStringLiteral("%1: %2").arg(toQString(stored.name), text);
        if (preview->count > 1)
            lines << QStringLiteral("    ") + firstText(*preview);
    }
    return lines;
}

void GraphSide::setForm(GraphForm form)
{
    if (this->form().tree == form.tree && this->form().graph == form.graph)
        return;
    if (m_revealEntry >= 0)
        m_revealNode = firstNodeOf(this->form(), m_revealEntry);
    m_entries.setForm(std::move(form));
    m_revealEntry = m_revealNode && this->form().tree && this->form().graph->tryGet(m_revealNode)
        ? this->form().tree->unitOf(m_revealNode)
        : -1;
    m_added = {-1, {}};
    m_walked = {-1, {}};
    m_done = false;
    if (this->form().tree)
        return;
    m_workspace.pipeline().jobs().cancel(m_tag);
    m_view.graphScene().setDrawing(nullptr);
}

void GraphSide::relayout(const std::set<std::string>& expanded, bool keepPlace)
{
    if (!form().tree)
        return;
    m_done = false;
    cancelCoarse();
    run(LayoutQuality::Fine, keepPlace, expanded);
    const int request = ++m_request;
    QTimer::singleShot(kPatienceMs, this, [this, request, keepPlace, expanded] {
        if (request == m_request && !m_done && form().tree)
            run(LayoutQuality::Coarse, keepPlace, expanded);
    });
}

void GraphSide::run(LayoutQuality quality, bool keepPlace, const std::set<std::string>& expanded)
{
    const bool coarse = quality == LayoutQuality::Coarse;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, coarse ? coarseTag() : m_tag,
        [graph = form().graph, tree = form().tree, runs = m_runs, flow = m_flow, expanded,
         quality](JobContext& job) {
            const FoldTreePtr grouped = groupedTree(*graph, tree, *runs, expanded);
            return layoutGraph(graph, grouped, entriesOf(*grouped, expanded), job, quality, flow);
        },
        this,
        [this, coarse, keepPlace](Result<GraphDrawingPtr> drawing) {
            if (!drawing || !m_entries.isDrawnIn(*drawing) || m_done)
                return;
            m_done = !coarse;
            if (m_done)
                cancelCoarse(); // obsolete
            show(std::move(*drawing), keepPlace);
            if (coarse)
                Q_EMIT coarseShown();
            else
                Q_EMIT layoutFinished();
        });
}

QString GraphSide::coarseTag() const
{
    return m_tag + QStringLiteral("Coarse");
}

void GraphSide::cancelCoarse()
{
    m_workspace.pipeline().jobs().cancel(coarseTag());
}

void GraphSide::show(GraphDrawingPtr drawing, bool keepPlace)
{
    if (m_walked.first >= int(form().tree->size()))
        m_walked.first = -1; // a box of the previous drawing
    m_view.graphScene().setDrawing(std::move(drawing));
    if (!keepPlace)
        m_whole ? m_view.fitAll() : m_view.fitStart();
    m_whole = m_whole && !m_done;
    syncSelection();
    if (m_reveal) {
        m_revealEntry < 0 ? centerOnSelection(false) : m_view.centerOnEntry(m_revealEntry);
        if (m_revealEntry >= 0)
            select(m_revealEntry, false);
        m_reveal = !m_done;
        m_revealEntry = m_done ? -1 : m_revealEntry;
        m_revealNode = m_done ? NodeId() : m_revealNode;
    }
}

const GraphStyle& GraphSide::restyle(ColourBy by, const std::optional<ScaleRange>& range,
                                     const std::unordered_set<NodeId>* traced)
{
    auto& scene = m_view.graphScene();
    const auto& drawing = scene.drawing();
    if (!isDrawn())
        return scene.canvas().style();
    GraphStyle style = styleGraph(*drawing, m_workspace.facts(), by, range);
    const auto& rules = m_workspace.styleRules();
    if (!rules.rules().empty() && m_workspace.foldTree())
        applyRules(style, *drawing, rules.rules(), [&](int entry) {
            const auto own = m_entries.floatEntries(drawnTree(), entry);
            const int rule = own.empty() ? -1 : rules.ruleOf(own.front());
            const bool alike = std::all_of(own.begin(), own.end(),
                                           [&](int one) { return rules.ruleOf(one) == rule; });
            return alike ? rule : -1;
        });
    std::vector<char> marked;
    if (traced) {
        const FoldTree& tree = *drawing->tree;
        marked.assign(tree.size(), 0);
        for (std::size_t i = 0; i < tree.size(); ++i)
            for (const NodeId id : tree.entry(int(i)).members)
                if (traced->count(m_entries.floatOf(id)))
                    for (int up = int(i); up >= 0 && !marked[std::size_t(up)];
                         up = tree.entry(up).parent)
                        marked[std::size_t(up)] = 1;
    }
    for (std::size_t i = 0; i < drawing->nodes.size(); ++i) {
        const int entry = drawing->nodes[i].entry;
        style.nodes[i].behind = style.nodes[i].behind || (traced && !marked[std::size_t(entry)])
            || (m_entries.isFloat() && !m_entries.passesFilter(*drawing->tree, entry));
    }
    scene.setStyle(std::move(style));
    scene.canvas().setTraced(std::move(marked));
    return scene.canvas().style();
}

void GraphSide::syncSelection()
{
    if (!isDrawn())
        return;
    const auto& edge = m_workspace.selection().edge();
    auto& scene = m_view.graphScene();
    if (const int added = addedEntry(); added >= 0)
        scene.setSelectedEntries({added});
    else
        scene.setSelectedEntries(edge ? std::vector<int>() : m_entries.selectedEntries());
    const auto& document = m_workspace.document();
    const auto marks = edgeMarks();
    scene.setLitEdges(edge && marks ? marks->lit(
                          *edge,
                          document.plan() ? sharedAlong(*document.model(), *document.plan(), *edge)
                                          : std::vector<ObservedEdge>())
                                    : GraphScene::LitEdges());
}

std::optional<EdgeMarks> GraphSide::edgeMarks() const
{
    const auto& drawing = m_view.graphScene().drawing();
    const auto& model = m_workspace.document().model();
    const auto& tree = m_workspace.foldTree();
    if (!isDrawn() || !model || !tree)
        return std::nullopt;
    return EdgeMarks(*drawing, *model, *tree);
}

void GraphSide::centerOnSelection(bool onlyIfHidden)
{
    const auto entries = form().tree ? m_entries.selectedEntries() : std::vector<int>();
    if (!entries.empty()
        && !(onlyIfHidden && m_view.isShowing(m_view.graphScene().rectOf(entries.front()))))
        m_view.centerOnEntry(entries.front());
}

void GraphSide::reveal(int entry)
{
    m_reveal = true;
    m_revealEntry = entry;
    m_revealNode = {};
    if (floatEntry(entry) < 0)
        m_workspace.selection().clear();
    select(entry, false);
}

bool GraphSide::isDrawn() const
{
    return m_entries.isDrawnIn(m_view.graphScene().drawing());
}

const FoldTree& GraphSide::drawnTree() const
{
    return isDrawn() ? *m_view.graphScene().drawing()->tree : *form().tree;
}

int GraphSide::drawnEntry(int floatEntry) const
{
    const auto& entry = m_workspace.foldTree()->entry(floatEntry);
    if (m_entries.isFloat())
        return floatEntry;
    if (entry.isModule())
        return form().tree->moduleEntry(entry.path);
    const auto units = m_entries.unitsOfFloat(entry.members.front());
    return units.empty() ? -1 : units.front();
}

std::vector<int> GraphSide::selectedBlocks() const
{
    return isDrawn() ? m_entries.selectedBlocks(*m_view.graphScene().drawing())
                     : std::vector<int>();
}

void GraphSide::select(int entry, bool extend)
{
    if (drawnTree().entry(entry).repeats > 0) {
        const auto blocks = m_entries.floatEntries(drawnTree(), entry);
        if (extend && m_entries.areSelected(blocks))
            m_entries.deselect(blocks);
        else
            m_workspace.selectEntries(blocks, extend);
        return;
    }
    const int chosen = floatEntry(entry);
    const auto marks = edgeMarks();
    if (const auto edge = marks && !extend ? marks->edgeUnder(entry) : std::nullopt) {
        m_added = {entry, edge};
        m_workspace.selectEdge(*edge);
        syncSelection(); // no signal if this edge was already selected
    } else if (chosen >= 0) {
        m_workspace.selectEntry(chosen, extend);
    } else if (isDrawn()) {
        m_view.graphScene().setSelectedEntries({entry}); // marked in this view only
    }
}

int GraphSide::addedEntry() const
{
    const auto& edge = m_workspace.selection().edge();
    return edge && m_added.second == edge ? m_added.first : -1;
}

void GraphSide::selectAll(const std::vector<int>& entries, bool extend)
{
    std::vector<int> chosen;
    for (const int entry : entries) {
        const auto found = m_entries.floatEntries(drawnTree(), entry);
        chosen.insert(chosen.end(), found.begin(), found.end());
    }
    if (!chosen.empty())
        m_workspace.selectEntries(chosen, extend);
}

void GraphSide::walk(Qt::Key key)
{
    const auto& drawing = m_view.graphScene().drawing();
    if (!isDrawn() || drawing->nodes.empty())
        return;
    const auto selected
        = addedEntry() >= 0 ? std::vector<int> {addedEntry()} : m_entries.selectedEntries();
    // Several drawn nodes may show one selection: the keys continue from their last target.
    const bool goesOn = m_walked.first >= 0 && addedEntry() < 0
        && m_walked.second == m_workspace.selection().nodes();
    int node = goesOn      ? drawing->nodeShowing(m_walked.first)
        : selected.empty() ? -1
                           : drawing->nodeShowing(selected.front());
    node = node < 0 ? 0 : nodeBeside(*drawing, key, node);
    if (node < 0)
        return;
    const int entry = drawing->nodes[std::size_t(node)].entry;
    select(entry, false);
    m_walked = {entry, m_workspace.selection().nodes()};
    if (!m_view.isShowing(drawing->nodes[std::size_t(node)].rect))
        m_view.centerOnEntry(entry);
}

NodeId GraphSide::floatOfDrawn(int node) const
{
    const auto& drawing = *m_view.graphScene().drawing();
    for (const NodeId id : drawing.tree->nodesOf(drawing.nodes[std::size_t(node)].entry))
        if (const NodeId origin = m_entries.floatOf(id))
            return origin;
    return {};
}

QRectF GraphSide::rectOfFloat(NodeId id) const
{
    const auto units = m_entries.unitsOfFloat(id);
    return units.empty() ? QRectF() : m_view.graphScene().rectOf(units.front());
}

void GraphSide::follow(const GraphSide& other)
{
    const auto& theirs = other.m_view.graphScene().drawing();
    if (!isDrawn() || !other.isDrawn())
        return;
    const QRectF seen = other.m_view.mapToScene(other.m_view.viewport()->rect()).boundingRect();
    auto near = theirs->nodeGrid.find(seen);
    const auto distance = [&](int node) {
        const QPointF d = theirs->nodes[std::size_t(node)].rect.center() - seen.center();
        return std::hypot(d.x(), d.y());
    };
    // The selected node is aligned, else the one nearest to the middle.
    const auto chosen = other.m_entries.selectedEntries();
    const int selected = chosen.empty() ? -1 : theirs->nodeShowing(chosen.front());
    std::sort(near.begin(), near.end(), [&](int a, int b) {
        return (a == selected) != (b == selected) ? a == selected : distance(a) < distance(b);
    });
    constexpr std::size_t kTried = 12; // nodes may lack a counterpart
    for (std::size_t i = 0; i < std::min(near.size(), kTried); ++i) {
        const NodeId id = other.floatOfDrawn(near[i]);
        const QRectF rect = id ? rectOfFloat(id) : QRectF();
        if (rect.isNull())
            continue;
        m_view.setZoom(other.m_view.zoom());
        m_view.centerOn(rect.center() + seen.center()
                        - theirs->nodes[std::size_t(near[i])].rect.center());
        return;
    }
}

} // namespace qs
