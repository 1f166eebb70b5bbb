// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_side.h"

#include "ui/graph/graph_walk.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/graph/stored_inside.h"
#include "ui/graph/style/rule_looks.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QTimer>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// A layout that takes longer gets a coarse picture meanwhile.
constexpr int kPatienceMs = 350;
constexpr int kMostTipLines = 10;

} // namespace

GraphSide::GraphSide(Workspace& workspace, GraphView& view, QString tag, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_tag(std::move(tag))
{
    connect(&view, &GraphView::entryClicked, this, &GraphSide::select);
    connect(&view, &GraphView::entriesBanded, this, &GraphSide::selectAll);
    connect(&view, &GraphView::emptyClicked, this, [this] { m_workspace.selection().clear(); });
    const auto lookAt = [this](const std::optional<Edge>& edge) {
        if (edge)
            m_workspace.selectEdge(*edge);
    };
    connect(&view, &GraphView::edgeClicked, this, [this, lookAt](int stretch) {
        if (const auto marks = edgeMarks())
            lookAt(marks->edgeOf(stretch));
    });
    connect(&view, &GraphView::namesClicked, this, [this, lookAt](int node) {
        if (const auto marks = edgeMarks())
            lookAt(marks->namedEdgeOf(node));
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

/// What is stored inside an entry, as far as it was read; the rest is asked for.
QStringList GraphSide::valueLines(int index) const
{
    QStringList lines;
    const auto& entry = m_form.tree->entry(index);
    if (entry.isModule() || !isFloat())
        return lines;
    for (const StoredValue& stored : storedInside(*m_form.graph, *m_form.tree, entry.members)) {
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

bool GraphSide::isFloat() const
{
    return m_form.graph == m_workspace.document().model();
}

NodeId GraphSide::floatOf(NodeId id) const
{
    return floatNodeOf(*m_form.graph, m_workspace.document().model().get(), id);
}

void GraphSide::setForm(GraphForm form)
{
    if (m_form.tree == form.tree && m_form.graph == form.graph)
        return;
    m_form = std::move(form);
    m_unitsOfFloat.clear();
    m_revealEntry = -1;
    m_added = {-1, {}};
    m_walked = {-1, {}};
    m_done = false;
    if (!m_form.tree) {
        m_workspace.pipeline().jobs().cancel(m_tag);
        m_view.graphScene().setDrawing(nullptr);
        return;
    }
    if (isFloat())
        return;
    const auto& entries = m_form.tree->entries();
    for (std::size_t i = 0; i < entries.size(); ++i)
        for (const NodeId id : entries[i].members)
            if (const NodeId origin = floatOf(id)) {
                auto& units = m_unitsOfFloat[origin];
                if (units.empty() || units.back() != int(i))
                    units.push_back(int(i));
            }
}

void GraphSide::relayout(const std::set<std::string>& expanded, bool keepPlace)
{
    if (!m_form.tree)
        return;
    m_done = false;
    cancelCoarse();
    const std::set<int> open = entriesOf(*m_form.tree, expanded);
    run(LayoutQuality::Fine, keepPlace, open);
    const int request = ++m_request;
    QTimer::singleShot(kPatienceMs, this, [this, request, keepPlace, open] {
        if (request == m_request && !m_done && m_form.tree)
            run(LayoutQuality::Coarse, keepPlace, open);
    });
}

void GraphSide::run(LayoutQuality quality, bool keepPlace, const std::set<int>& open)
{
    const bool coarse = quality == LayoutQuality::Coarse;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, coarse ? coarseTag() : m_tag,
        [graph = m_form.graph, tree = m_form.tree, open, quality](JobContext& job) {
            return layoutGraph(graph, tree, open, job, quality);
        },
        this,
        [this, coarse, keepPlace](Result<GraphDrawingPtr> drawing) {
            if (!drawing || (*drawing)->tree != m_form.tree || m_done)
                return;
            m_done = !coarse;
            if (m_done)
                cancelCoarse(); // nobody waits for it any more
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
    m_view.graphScene().setDrawing(std::move(drawing));
    if (!keepPlace)
        m_view.fitStart();
    syncSelection();
    if (m_reveal) {
        m_revealEntry < 0 ? centerOnSelection(false) : m_view.centerOnEntry(m_revealEntry);
        if (m_revealEntry >= 0)
            select(m_revealEntry, false);
        m_reveal = !m_done;
        m_revealEntry = m_done ? -1 : m_revealEntry;
    }
}

const GraphStyle& GraphSide::restyle(ColourBy by, const std::optional<ScaleRange>& range,
                                     const std::unordered_set<NodeId>* traced)
{
    auto& scene = m_view.graphScene();
    const auto& drawing = scene.drawing();
    if (!drawing || drawing->tree != m_form.tree)
        return scene.canvas().style();
    GraphStyle style = styleGraph(*drawing, m_workspace.facts(), by, range);
    const auto& rules = m_workspace.styleRules();
    if (!rules.rules().empty() && m_workspace.foldTree())
        applyRules(style, *drawing, rules.rules(), [&](int entry) {
            const int own = floatEntry(entry);
            return own < 0 ? -1 : rules.ruleOf(own);
        });
    std::vector<char> marked;
    if (traced) {
        const auto& entries = m_form.tree->entries();
        marked.assign(entries.size(), 0);
        for (std::size_t i = 0; i < entries.size(); ++i)
            for (const NodeId id : entries[i].members)
                if (traced->count(floatOf(id)))
                    for (int up = int(i); up >= 0 && !marked[std::size_t(up)];
                         up = m_form.tree->entry(up).parent)
                        marked[std::size_t(up)] = 1;
    }
    for (std::size_t i = 0; i < drawing->nodes.size(); ++i) {
        const int entry = drawing->nodes[i].entry;
        style.nodes[i].behind = style.nodes[i].behind || (traced && !marked[std::size_t(entry)])
            || (isFloat() && !m_workspace.passesFilter(entry));
    }
    scene.setStyle(std::move(style));
    scene.canvas().setTraced(std::move(marked));
    return scene.canvas().style();
}

std::vector<int> GraphSide::selectedEntries() const
{
    if (isFloat())
        return m_workspace.selectedEntries();
    const auto& selection = m_workspace.selection();
    std::vector<int> out;
    if (selection.isModule()) {
        const int entry = m_form.tree->moduleEntry(selection.modulePath().toStdString());
        if (entry >= 0)
            out.push_back(entry);
        return out;
    }
    for (const NodeId id : selection.nodes())
        if (const auto it = m_unitsOfFloat.find(id); it != m_unitsOfFloat.end())
            for (const int unit : it->second)
                if (std::find(out.begin(), out.end(), unit) == out.end())
                    out.push_back(unit);
    return out;
}

void GraphSide::syncSelection()
{
    const auto& drawing = m_view.graphScene().drawing();
    if (!drawing || drawing->tree != m_form.tree)
        return;
    const auto& edge = m_workspace.selection().edge();
    auto& scene = m_view.graphScene();
    if (const int added = addedEntry(); added >= 0)
        scene.setSelectedEntries({added});
    else
        scene.setSelectedEntries(edge ? std::vector<int>() : selectedEntries());
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
    if (!drawing || drawing->tree != m_form.tree || !model || !tree)
        return std::nullopt;
    return EdgeMarks(*drawing, *model, *tree);
}

void GraphSide::centerOnSelection(bool onlyIfHidden)
{
    const auto entries = m_form.tree ? selectedEntries() : std::vector<int>();
    if (!entries.empty()
        && !(onlyIfHidden && m_view.isShowing(m_view.graphScene().rectOf(entries.front()))))
        m_view.centerOnEntry(entries.front());
}

void GraphSide::reveal(int entry)
{
    m_reveal = true;
    m_revealEntry = entry;
    if (floatEntry(entry) < 0)
        m_workspace.selection().clear();
    select(entry, false);
}

int GraphSide::floatEntry(int entry) const
{
    if (isFloat())
        return entry;
    const auto& floatTree = *m_workspace.foldTree();
    const auto& own = m_form.tree->entry(entry);
    if (own.isModule())
        return floatTree.moduleEntry(own.path);
    for (const NodeId id : own.members)
        if (const NodeId origin = floatOf(id))
            if (const int unit = floatTree.unitOf(origin); unit >= 0)
                return unit;
    return -1;
}

void GraphSide::select(int entry, bool extend)
{
    const int chosen = floatEntry(entry);
    const auto marks = edgeMarks();
    if (const auto edge = marks && !extend ? marks->edgeUnder(entry) : std::nullopt) {
        m_added = {entry, edge};
        m_workspace.selectEdge(*edge);
        syncSelection(); // the same edge may have been looked at already
    } else if (chosen >= 0) {
        m_workspace.selectEntry(chosen, extend);
    } else {
        m_view.graphScene().setSelectedEntries({entry}); // seen here only
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
    for (const int entry : entries)
        if (const int found = floatEntry(entry); found >= 0)
            chosen.push_back(found);
    if (!chosen.empty())
        m_workspace.selectEntries(chosen, extend);
}

void GraphSide::walk(Qt::Key key)
{
    const auto& drawing = m_view.graphScene().drawing();
    if (!drawing || drawing->nodes.empty())
        return;
    const auto selected = addedEntry() >= 0 ? std::vector<int> {addedEntry()} : selectedEntries();
    // Several drawn nodes may stand for one selection: the keys go on from the one they led to.
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
    for (const NodeId id : m_form.tree->nodesOf(drawing.nodes[std::size_t(node)].entry))
        if (const NodeId origin = floatOf(id))
            return origin;
    return {};
}

QRectF GraphSide::rectOfFloat(NodeId id) const
{
    int unit = -1;
    if (isFloat())
        unit = m_form.tree->unitOf(id);
    else if (const auto it = m_unitsOfFloat.find(id); it != m_unitsOfFloat.end())
        unit = it->second.front();
    return unit < 0 ? QRectF() : m_view.graphScene().rectOf(unit);
}

void GraphSide::follow(const GraphSide& other)
{
    const auto& theirs = other.m_view.graphScene().drawing();
    if (!theirs || !m_view.graphScene().drawing() || theirs->tree != other.m_form.tree
        || m_view.graphScene().drawing()->tree != m_form.tree)
        return;
    const QRectF seen = other.m_view.mapToScene(other.m_view.viewport()->rect()).boundingRect();
    auto near = theirs->nodeGrid.find(seen);
    const auto distance = [&](int node) {
        const QPointF d = theirs->nodes[std::size_t(node)].rect.center() - seen.center();
        return std::hypot(d.x(), d.y());
    };
    // What is selected stays side by side, else what is in the middle.
    const auto chosen = other.selectedEntries();
    const int selected = chosen.empty() ? -1 : theirs->nodeShowing(chosen.front());
    std::sort(near.begin(), near.end(), [&](int a, int b) {
        return (a == selected) != (b == selected) ? a == selected : distance(a) < distance(b);
    });
    constexpr std::size_t kTried = 12; // of neighbours without a counterpart
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
