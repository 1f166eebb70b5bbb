// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_pane.h"

#include "ui/graph/body_pane.h"
#include "ui/graph/graph_layout.h"
#include "ui/graph/legend.h"
#include "ui/graph/minimap.h"
#include "ui/session/workspace.h"
#include "ui/shell/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

namespace qs {

namespace {

/// As many things as a first view shows at a readable size.
constexpr int kFirstViewBudget = 16;
constexpr int kMargin = 12;

} // namespace

GraphPane::GraphPane(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_view(new GraphView(this))
    , m_minimap(new Minimap(*m_view, this))
    , m_legend(new Legend(this))
    , m_body(new BodyPane(workspace, this))
    , m_colourBox(new QComboBox(this))
{
    setObjectName(QStringLiteral("graphPane"));
    m_colourFrame = m_colourBox;
    m_colourBox->setObjectName(QStringLiteral("colourBy"));
    m_colourBox->setToolTip(QStringLiteral("What the colours of the graph mean"));
    for (int by = 0; by < kColourByCount; ++by)
        m_colourBox->addItem(QStringLiteral("Colour by: %1").arg(colourByText(ColourBy(by))));
    m_colourBox->setCurrentIndex(int(m_colourBy));
    m_colourBox->setFixedWidth(224);
    m_colourBox->setStyleSheet(QStringLiteral("QComboBox { background: %1; padding: 4px 10px; }")
                                   .arg(theme().panel.name()));
    connect(m_colourBox, &QComboBox::activated, this, [this](int index) {
        m_colourChosen = true;
        setColourBy(ColourBy(index));
    });
    connect(&workspace, &Workspace::treeChanged, this, &GraphPane::onTreeChanged);
    connect(&workspace, &Workspace::factsChanged, this, &GraphPane::restyle);
    connect(&workspace, &Workspace::filterChanged, this, &GraphPane::restyle);
    connect(&workspace.document(), &Document::modelChanged, this, [this] {
        m_freshModel = true;
        m_colourChosen = false;
        setColourBy(ColourBy::Verdict);
    });
    connect(&workspace.pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Compare && !m_colourChosen)
            setColourBy(ColourBy::BornHere);
    });
    connect(&workspace.selection(), &Selection::changed, this, &GraphPane::syncSelection);
    connect(m_view, &GraphView::entryClicked, this,
            [this](int entry, bool extend) { m_workspace.selectEntry(entry, extend); });
    connect(m_view, &GraphView::entriesBanded, &workspace, &Workspace::selectEntries);
    connect(m_view, &GraphView::emptyClicked, this, [this] { m_workspace.selection().clear(); });
    connect(m_view, &GraphView::foldToggled, this, &GraphPane::toggleFold);
    connect(m_view, &GraphView::contextMenuWanted, this, &GraphPane::contextMenuWanted);
    connect(m_view, &GraphView::entryActivated, this,
            [this](int entry) { lookInside(m_workspace.foldTree()->entry(entry).members); });
    connect(m_view, &GraphView::activateWanted, this,
            [this] { lookInside(m_workspace.selection().nodes()); });
    connect(m_body, &BodyPane::closed, m_view, [this] { m_view->setFocus(); });
    connect(m_legend, &Legend::rangeChosen, this, [this](const ScaleRange& range, bool whole) {
        m_range = whole ? std::nullopt : std::optional(range);
        restyle();
    });
    m_minimap->hide();
    m_legend->hide();
}

void GraphPane::lookInside(const std::vector<NodeId>& nodes)
{
    for (const NodeId id : nodes)
        if (const NodePtr owner = m_workspace.facts().bodyOwner(id)) {
            m_body->close();
            m_body->setGeometry(rect());
            m_body->open(owner);
            return;
        }
}

void GraphPane::setColourBy(ColourBy by)
{
    if (by != m_colourBy)
        m_range.reset();
    m_colourBy = by;
    m_colourBox->setCurrentIndex(int(by));
    restyle();
}

std::set<int> GraphPane::expandedEntries() const
{
    std::set<int> out {FoldTree::kRoot};
    const auto& tree = m_workspace.foldTree();
    for (std::size_t i = 1; tree && i < tree->entries().size(); ++i)
        if (tree->entries()[i].isModule() && m_expanded.count(tree->entries()[i].path))
            out.insert(int(i));
    return out;
}

void GraphPane::onTreeChanged()
{
    const auto& tree = m_workspace.foldTree();
    if (!tree) {
        m_view->graphScene().setDrawing(nullptr);
        m_layoutDone = false;
        return;
    }
    const bool fresh = m_freshModel;
    if (fresh) {
        m_expanded.clear();
        for (int entry : initialExpansion(*tree, kFirstViewBudget))
            m_expanded.insert(tree->entry(entry).path);
        // The plan follows at once and joins fused nodes: then the view is placed again.
        m_freshModel = m_workspace.document().plan() == nullptr;
    }
    foldNewWraps();
    relayout(!fresh);
}

/// What the recipe has just wrapped is one node until the user looks inside.
void GraphPane::foldNewWraps()
{
    std::set<std::string> wrapped;
    for (const auto& entry : m_workspace.foldTree()->entries())
        if (entry.isModule() && !entry.wrap.empty()) {
            wrapped.insert(entry.path);
            if (!m_wrapped.count(entry.path))
                m_expanded.erase(entry.path);
        }
    m_wrapped = std::move(wrapped);
}

void GraphPane::relayout(bool keepPlace)
{
    const auto& tree = m_workspace.foldTree();
    if (!tree)
        return;
    m_layoutDone = false;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, QStringLiteral("layout"),
        [graph = m_workspace.document().model(), tree, open = expandedEntries()](JobContext& job) {
            return layoutGraph(graph, tree, open, job);
        },
        this,
        [this, keepPlace](Result<GraphDrawingPtr> drawing) {
            if (drawing)
                showDrawing(std::move(*drawing), keepPlace);
        });
}

void GraphPane::showDrawing(GraphDrawingPtr drawing, bool keepPlace)
{
    if (drawing->tree != m_workspace.foldTree())
        return;
    m_view->graphScene().setDrawing(std::move(drawing));
    restyle();
    if (!keepPlace)
        m_view->fitStart();
    syncSelection();
    if (m_revealAfterLayout) {
        m_revealAfterLayout = false;
        const auto entries = m_workspace.selectedEntries();
        if (!entries.empty())
            m_view->centerOnEntry(entries.front());
    }
    m_minimap->show();
    m_layoutDone = true;
    placeOverlays();
    Q_EMIT layoutFinished();
}

void GraphPane::restyle()
{
    const auto& drawing = m_view->graphScene().drawing();
    if (!drawing || drawing->tree != m_workspace.foldTree())
        return;
    GraphStyle style = styleGraph(*drawing, m_workspace.facts(), m_colourBy, m_range);
    for (std::size_t i = 0; i < drawing->nodes.size(); ++i)
        style.nodes[i].behind |= !m_workspace.passesFilter(drawing->nodes[i].entry);
    m_legend->setStyle(style);
    m_view->graphScene().setStyle(std::move(style));
    placeOverlays();
}

void GraphPane::syncSelection()
{
    const auto& drawing = m_view->graphScene().drawing();
    if (drawing && drawing->tree == m_workspace.foldTree())
        m_view->graphScene().setSelectedEntries(m_workspace.selectedEntries());
}

void GraphPane::toggleFold(int index, bool recursively)
{
    const auto& tree = m_workspace.foldTree();
    const auto& entry = tree->entry(index);
    if (!entry.isModule() || index == FoldTree::kRoot)
        return;
    const bool open = m_expanded.count(entry.path) == 0;
    for (std::size_t i = 1; i < tree->entries().size(); ++i) {
        const auto& other = tree->entries()[i];
        const bool touched
            = int(i) == index || (recursively && other.isModule() && tree->isWithin(int(i), index));
        if (touched && open)
            m_expanded.insert(other.path);
        else if (touched)
            m_expanded.erase(other.path);
    }
    m_workspace.selectEntry(index);
    m_revealAfterLayout = true;
    relayout(true);
}

void GraphPane::expandAll()
{
    const auto& tree = m_workspace.foldTree();
    for (std::size_t i = 1; tree && i < tree->entries().size(); ++i)
        if (tree->entries()[i].isModule())
            m_expanded.insert(tree->entries()[i].path);
    relayout(false);
}

void GraphPane::foldAll()
{
    m_expanded = {std::string()};
    relayout(false);
}

void GraphPane::revealSelection()
{
    const auto& tree = m_workspace.foldTree();
    const auto entries = m_workspace.selectedEntries();
    if (!tree || entries.empty())
        return;
    bool opened = false;
    for (int up = tree->entry(entries.front()).parent; up > FoldTree::kRoot;
         up = tree->entry(up).parent)
        opened |= m_expanded.insert(tree->entry(up).path).second;
    if (opened || !m_layoutDone) {
        m_revealAfterLayout = true;
        relayout(true);
    } else if (!m_view->isShowing(m_view->graphScene().rectOf(entries.front()))) {
        m_view->centerOnEntry(entries.front());
    }
}

void GraphPane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_view->setGeometry(rect());
    m_body->setGeometry(rect());
    placeOverlays();
}

void GraphPane::placeOverlays()
{
    m_colourFrame->adjustSize();
    m_colourFrame->move(width() - m_colourFrame->width() - kMargin, 10);
    m_minimap->move(kMargin, height() - m_minimap->height() - kMargin);
    m_legend->setRoom(width());
    m_legend->move(width() - m_legend->width() - kMargin, height() - m_legend->height() - kMargin);
}

} // namespace qs
