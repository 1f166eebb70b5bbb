// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/module_actions.h"

#include "engine/graph/source_frames.h"
#include "engine/plan/block/prepare_lists.h"
#include "ui/frame/actions.h"
#include "ui/session/workspace.h"

#include <QAction>

#include <algorithm>

namespace qs {

namespace {

bool isListed(const Recipe& recipe, PrepareNames list, const std::string& name)
{
    return std::ranges::count(recipe.prepare.*list, name) > 0;
}

} // namespace

ModuleActions::ModuleActions(Actions& actions, Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_workspace(workspace)
{
    connect(&m_actions[ActionId::LeafModule], &QAction::triggered, this, [this] {
        toggle(&PrepareConfig::leafNames, selectedModule(), tr("keep %1 as a float leaf"),
               tr("let %1 be quantized"));
    });
    connect(&m_actions[ActionId::OnlyModule], &QAction::triggered, this, [this] {
        toggle(&PrepareConfig::onlyModules, selectedModule(), tr("quantize only %1"),
               tr("quantize more than %1"));
    });
    connect(&m_actions[ActionId::WrapModule], &QAction::triggered, this, [this] {
        toggle(&PrepareConfig::wrap, selectedWrap(), tr("show %1 as one node"),
               tr("show %1 operator by operator"));
    });
    connect(&workspace.selection(), &Selection::changed, this, &ModuleActions::refresh);
    connect(&workspace.document(), &Document::recipeChanged, this, &ModuleActions::refresh);
    connect(&workspace, &Workspace::treeChanged, this, &ModuleActions::refresh);
    refresh();
}

std::string ModuleActions::selectedModule() const
{
    const auto entries = m_workspace.selectedEntries();
    if (entries.empty())
        return {};
    // A command on an operator or a fused pair must not apply to its module.
    const auto& tree = *m_workspace.foldTree();
    const FoldEntry& entry = tree.entry(entries.front());
    const std::string module = moduleOfPath(entry.path);
    return entry.isModule() || tree.moduleEntry(module) == entries.front() ? module : std::string();
}

std::string ModuleActions::selectedWrap() const
{
    const auto entries = m_workspace.selectedEntries();
    if (entries.empty())
        return {};
    const FoldEntry& entry = m_workspace.foldTree()->entry(entries.front());
    if (!entry.wrap.empty())
        return entry.wrap;
    if (entry.kind == FoldEntry::Kind::Unit && !entry.members.empty()) {
        const Node& node = m_workspace.document().model()->get(entry.members.front());
        const bool isGlue = !node.scope.moduleClass.starts_with("torch.nn.");
        if (const auto functions = functionsOfCaller(node.source, 0);
            isGlue && functions.front() != "forward")
            return node.scope.path + "::" + functions.front();
        // Wrapping a torch.nn layer would only make it float.
        if (!isGlue)
            return {};
    }
    return selectedModule();
}

void ModuleActions::toggle(PrepareNames list, const std::string& name, const QString& on,
                           const QString& off)
{
    const Recipe& recipe = m_workspace.document().recipe();
    const bool listed = isListed(recipe, list, name);
    if (name.empty())
        return;
    const QString text = (listed ? off : on).arg(QString::fromStdString(name));
    Recipe next = recipe;
    if (list == &PrepareConfig::onlyModules && !listed)
        next.prepare.onlyModules.clear(); // one at a time
    m_workspace.change(text, withPrepareName(std::move(next), list, name, !listed));
    refresh();
}

void ModuleActions::refresh()
{
    const bool open = m_workspace.document().model() && m_workspace.foldTree();
    const std::string module = open ? selectedModule() : std::string();
    const std::string wrap = open ? selectedWrap() : std::string();
    const Recipe& recipe = m_workspace.document().recipe();
    const auto show = [&](ActionId id, PrepareNames list, const std::string& name) {
        m_actions[id].setEnabled(!name.empty());
        m_actions[id].setChecked(!name.empty() && isListed(recipe, list, name));
    };
    show(ActionId::LeafModule, &PrepareConfig::leafNames, module);
    show(ActionId::OnlyModule, &PrepareConfig::onlyModules, module);
    show(ActionId::WrapModule, &PrepareConfig::wrap, wrap);
}

} // namespace qs
