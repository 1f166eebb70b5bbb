// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/selection_menu.h"

#include "ui/frame/actions.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"

#include <QMenu>

namespace qs {

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
    QStringList names;
    for (const NodeId id : selection.nodes())
        if (const Node* node = model->tryGet(id))
            names << toQString(node->name);
    return names.join(QLatin1Char('\n'));
}

} // namespace qs
