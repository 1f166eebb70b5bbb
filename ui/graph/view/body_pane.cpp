// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/body_pane.h"

#include "engine/base/text.h"
#include "engine/graph/bodies.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/widgets.h"

#include <QKeyEvent>
#include <QTabBar>
#include <QToolButton>

namespace qs {

namespace {

const QString kBodyTag = QStringLiteral("bodyLayout");
constexpr int kFirstBodyBudget = 40;

} // namespace

BodyPane::BodyPane(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_crumbs(new QWidget(this))
    , m_crumbRow(makeHBox(m_crumbs, {}, 2))
    , m_tabs(new QTabBar(this))
    , m_caption(makeMutedLabel(QString(), 11.5, this))
    , m_view(new GraphView(this))
{
    setObjectName(QStringLiteral("bodyPane"));
    setAutoFillBackground(true);
    setNames(*m_view, "bodyView", tr("The node's body"));
    setNames(*m_tabs, "bodyTabs", {}, tr("The bodies of the node"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_caption->setObjectName(QStringLiteral("bodyCaption"));
    auto* bar = makeHBox(nullptr, {12, 6, 12, 6}, 12);
    addItems(*bar, {m_crumbs, m_tabs, {m_caption, 1}});
    addItems(*makeVBox(this, {}, 0), {bar, {m_view, 1}});
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        if (index < 0 || m_path.empty() || m_path.back().index == std::size_t(index))
            return;
        m_path.back().index = std::size_t(index);
        show();
    });
    connect(m_view, &GraphView::entryActivated, this, &BodyPane::activate);
    connect(m_view, &GraphView::foldToggled, this, &BodyPane::toggleFold);
    connect(m_view, &GraphView::entryClicked, this, &BodyPane::describe);
    connect(&workspace.document(), &Document::modelChanged, this, &BodyPane::close);
    connect(&workspace.document(), &Document::graphEdited, this, &BodyPane::close);
    hide();
}

GraphPtr BodyPane::body() const
{
    return m_path.empty() ? nullptr : m_path.back().node->subgraphs[m_path.back().index];
}

void BodyPane::open(NodePtr node)
{
    if (!node || node->subgraphs.empty())
        return;
    m_path.push_back({std::move(node), 0});
    show();
    QWidget::show();
    raise();
    m_view->setFocus();
}

void BodyPane::up()
{
    if (m_path.size() <= 1) {
        close();
        return;
    }
    m_path.pop_back();
    show();
}

void BodyPane::close()
{
    const bool wasOpen = isOpen();
    m_path.clear();
    m_tree.reset();
    m_view->graphScene().setDrawing(nullptr);
    m_layoutDone = false;
    hide();
    if (wasOpen)
        Q_EMIT closed();
}

void BodyPane::show()
{
    m_tree = FoldTree::build(*body(), nullptr);
    m_expanded = initialExpansion(*m_tree, kFirstBodyBudget);
    fillBar();
    relayout();
}

void BodyPane::addCrumb(const QString& text, const QString& tip, std::size_t keep)
{
    auto* crumb = new QToolButton(m_crumbs);
    crumb->setObjectName(QStringLiteral("bodyCrumb%1").arg(keep));
    crumb->setAutoRaise(true);
    crumb->setText(text + QStringLiteral("  ›"));
    crumb->setToolTip(tip);
    crumb->setEnabled(keep < m_path.size());
    m_crumbRow->addWidget(crumb);
    connect(
        crumb, &QToolButton::clicked, this,
        [this, keep] {
            while (m_path.size() > keep)
                up();
        },
        Qt::QueuedConnection); // the button is deleted with its bar
}

void BodyPane::fillBar()
{
    for (auto* old : m_crumbs->findChildren<QToolButton*>(QString(), Qt::FindDirectChildrenOnly)) {
        old->setParent(nullptr);
        old->deleteLater();
    }
    addCrumb(m_workspace.document().title(), tr("Back to the model (Backspace: one up)"), 0);
    for (std::size_t i = 0; i < m_path.size(); ++i) {
        const Level& level = m_path[i];
        QString text = QString::fromStdString(level.node->name);
        if (i + 1 < m_path.size())
            text += QStringLiteral(" · ")
                + QString::fromStdString(bodyTitle(*level.node, level.index));
        addCrumb(text, QString::fromStdString(level.node->target), i + 1);
    }
    const QSignalBlocker quiet(m_tabs);
    while (m_tabs->count() > 0)
        m_tabs->removeTab(0);
    const Level& last = m_path.back();
    for (std::size_t i = 0; i < last.node->subgraphs.size(); ++i)
        m_tabs->addTab(QString::fromStdString(bodyTitle(*last.node, i)));
    m_tabs->setCurrentIndex(int(last.index));
    m_caption->setText(
        tr("%1, kept as they are").arg(toQString(counted(operatorCount(*body()), "operator"))));
}

void BodyPane::relayout()
{
    m_layoutDone = false;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kBodyTag,
        [graph = body(), tree = m_tree, open = m_expanded, flow = m_flow](JobContext& job) {
            return layoutGraph(graph, tree, open, job, LayoutQuality::Fine, flow);
        },
        this,
        [this](Result<GraphDrawingPtr> drawing) {
            if (!drawing || (*drawing)->tree != m_tree)
                return;
            GraphStyle style = styleGraph(**drawing, m_facts, ColourBy::Op);
            m_view->graphScene().setDrawing(std::move(*drawing));
            m_view->graphScene().setStyle(std::move(style));
            m_view->fitStart();
            m_layoutDone = true;
            Q_EMIT layoutFinished();
        });
}

void BodyPane::activate(int entry)
{
    for (const NodeId id : m_tree->entry(entry).members) {
        const Node& node = body()->get(id);
        if (node.subgraphs.empty())
            continue;
        open(body()->nodes()[body()->position(id)]);
        return;
    }
}

void BodyPane::toggleFold(int entry)
{
    if (!m_expanded.erase(entry))
        m_expanded.insert(entry);
    relayout();
}

/// Shows the code of the clicked entry, if the file has it.
void BodyPane::describe(int entry)
{
    m_view->graphScene().setSelectedEntries({entry});
    if (m_tree->entry(entry).members.empty())
        return;
    const Node& node = body()->get(m_tree->entry(entry).members.front());
    QString text = QString::fromStdString(node.kind == NodeKind::Op ? node.target : node.name);
    if (!node.source.code.empty())
        text += QStringLiteral("   ") + QString::fromStdString(node.source.code);
    m_caption->setText(text);
}

void BodyPane::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Backspace)
        up();
    else
        QWidget::keyPressEvent(event);
}

} // namespace qs
