// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/graph_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/layout/block_neighbours.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QAction>
#include <QMenu>
#include <QSettings>

#include <algorithm>

namespace qs {

namespace {

const QString kBoxRepeatsKey = QStringLiteral("repeatsInOneBox"),
              kSidewaysKey = QStringLiteral("graphRunsToTheRight");

/// Restores a switch from the settings, applies it, and stores and applies later changes.
template<class Apply>
void keepSwitch(QAction& action, const QString& key, bool byDefault, QObject* owner, Apply apply)
{
    action.setChecked(QSettings().value(key, byDefault).toBool());
    apply(action.isChecked());
    QObject::connect(&action, &QAction::toggled, owner, [key, apply](bool on) {
        QSettings().setValue(key, on);
        apply(on);
    });
}

} // namespace

GraphActions::GraphActions(Actions& actions, Workspace& workspace, GraphPane& graph,
                           MessageBar& messages, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_graph(graph)
    , m_messages(messages)
{
    const auto on = [&](ActionId id, auto handler) {
        connect(&actions[id], &QAction::triggered, this, handler);
    };
    on(ActionId::Expand, [this] { fold(true); });
    on(ActionId::Collapse, [this] { fold(false); });
    on(ActionId::ExpandAll, [this] { m_graph.expandAll(); });
    on(ActionId::FoldAll, [this] { m_graph.foldAll(); });
    on(ActionId::ExpandRepeats, [this] { foldRepeats(); });
    on(ActionId::ExpandOne, [this] { offerBlocks(); });
    keepSwitch(actions[ActionId::BoxRepeats], kBoxRepeatsKey, true, &graph,
               [&graph](bool boxes) { graph.setBoxesRepeats(boxes); });
    keepSwitch(actions[ActionId::Sideways], kSidewaysKey, false, &graph,
               [&graph](bool sideways) { graph.setFlow(sideways ? Flow::Right : Flow::Down); });
}

void GraphActions::fold(bool open)
{
    if (open && m_graph.toggleSelectedBox(true))
        return;
    const auto& tree = *m_workspace.foldTree();
    for (int module : m_workspace.selectedEntries()) {
        if (!tree.entry(module).isModule()) {
            if (!open && m_graph.toggleSelectedBox(false, true))
                return;
            module = tree.entry(module).parent;
        }
        const bool isOpen = m_graph.expanded().count(tree.entry(module).path) > 0;
        if (module > FoldTree::kRoot && isOpen != open) {
            m_graph.toggleFold(module, false);
            return;
        }
    }
    if (!open)
        m_graph.toggleSelectedBox(false);
}

void GraphActions::foldRepeats()
{
    const auto& tree = *m_workspace.foldTree();
    const auto blocks = m_graph.selectedBlocks();
    const auto selected = blocks.empty() ? m_workspace.selectedEntries() : blocks;
    if (selected.empty())
        return;
    const int first = selected.front();
    m_graph.toggleRepeats(tree.entry(first).isModule() ? first : tree.entry(first).parent);
}

void GraphActions::offerBlocks()
{
    const auto blocks = m_graph.selectedBlocks();
    if (blocks.empty()) {
        m_messages.showMessage(MessageBar::Kind::Note, tr("No box of repeated blocks is selected"),
                               tr("Click a box such as \"layers.0–11 ×12\", then choose the block "
                                  "to unfold"));
        return;
    }
    const FoldTree& tree = *m_workspace.foldTree();
    const Facts& facts = m_workspace.facts();
    std::vector<std::pair<std::optional<double>, int>> choices;
    const Graph& model = *m_workspace.document().model();
    for (const int block : blocks)
        if (!modulesOfEntry(model, tree, block, {}).empty()) // else part of a neighbour's block
            choices.emplace_back(facts.worstSqnr(tree.nodesOf(block), ErrorTerm::BornHere), block);
    std::stable_sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
        return a.first && (!b.first || *a.first < *b.first);
    });
    auto* menu = new QMenu(m_graph.window());
    menu->setObjectName(QStringLiteral("blockMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const auto& [sqnr, block] : choices) {
        const FoldEntry& entry = tree.entry(block);
        QString text = toQString(entry.isModule() ? entry.path : entry.title);
        if (sqnr)
            text += QLatin1Char('\t') + shownSqnr(*sqnr);
        connect(menu->addAction(text), &QAction::triggered, &m_graph,
                [this, block = block] { m_graph.unfoldBlock(block); });
    }
    auto& view = m_graph.view();
    const QRectF box = view.graphScene().rectOf(blocks.front());
    menu->popup(view.viewport()->mapToGlobal(view.mapFromScene(box.bottomLeft())));
    menu->setActiveAction(menu->actions().front());
}

} // namespace qs
