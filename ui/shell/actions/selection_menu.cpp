// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/selection_menu.h"

#include "engine/graph/module_tree.h"
#include "ui/frame/actions.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"

#include <QMenu>

#include <unordered_set>

namespace qs {

namespace {

/// Returns the modules with an operator that is not among these nodes.
std::unordered_set<std::string> modulesOfOthers(const Graph& graph,
                                                const std::vector<NodeId>& nodes)
{
    const std::unordered_set<NodeId> inside(nodes.begin(), nodes.end());
    std::unordered_set<std::string> out;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && !inside.contains(node->id))
            for (std::string path = node->scope.path; !path.empty() && out.insert(path).second;)
                path = ModuleTree::parentPath(path);
    return out;
}

/// Returns the names of the nodes for rules: the module if it holds no other operator, else the
/// name in the graph.
QStringList ruleNames(const Graph& graph, const std::vector<NodeId>& nodes)
{
    const auto others = modulesOfOthers(graph, nodes);
    QStringList names;
    for (const NodeId id : nodes)
        if (const Node* node = graph.tryGet(id)) {
            const std::string& path = node->scope.path;
            const bool isAlone = !path.empty() && !others.contains(path);
            names << toQString(isAlone ? path : node->name);
        }
    names.removeDuplicates();
    return names;
}

} // namespace

void showSelectionMenu(MainWindow& window, const QPoint& at)
{
    using enum ActionId;
    const bool isEdge = window.workspace().selection().edge().has_value();
    QMenu menu(&window);
    menu.setObjectName(isEdge ? QStringLiteral("edgeMenu") : QStringLiteral("entryMenu"));
    menu.setToolTipsVisible(true);
    const auto add = [&](std::initializer_list<ActionId> ids) {
        if (!menu.isEmpty())
            menu.addSeparator();
        for (const ActionId id : ids)
            menu.addAction(&window.actions()[id]);
    };
    if (!isEdge) {
        add({Expand, ExpandOne, Collapse, ExpandRepeats, LookInside});
        add({Assign, KeepFloat, ClearRule, NewQConfig});
        add({LeafModule, OnlyModule, WrapModule});
    }
    add({InsertAfter, InsertOnInput, RemoveNode, SetArguments, ReplaceNode, RewireInput, MakeOutput,
         ExtractSelection});
    add({TraceBefore, TraceAfter, CopyName});
    menu.exec(at);
}

QString selectedName(const Workspace& workspace)
{
    const Selection& selection = workspace.selection();
    const GraphPtr& model = workspace.document().model();
    if (!model)
        return {};
    if (selection.edge())
        return edgeText(workspace.facts(), *selection.edge());
    if (selection.isModule()) // the root has no path
        return selection.modulePath().isEmpty()
            ? toQString(workspace.foldTree()->entry(FoldTree::kRoot).label)
            : selection.modulePath();
    return ruleNames(*model, selection.nodes()).join(QLatin1Char('\n'));
}

} // namespace qs
