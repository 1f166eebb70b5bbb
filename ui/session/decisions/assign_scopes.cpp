// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/assign_scopes.h"

#include "engine/base/text.h"
#include "engine/configure/backend/target.h"
#include "engine/plan/summaries/qconfig_choices.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

/// Repeats are offered for at most this many selected nodes.
constexpr std::size_t kMostRepeated = 64;

AssignScope moduleScope(const std::string& path, const QString& text)
{
    return {text, {RuleKind::ModuleName, {path}}};
}

/// Adds the single operators of a selected fusion. A qconfig that differs from the first operator's
/// is a conflict; the window then offers remedies.
void addMembers(const Workspace& workspace, std::vector<AssignScope>& out)
{
    const auto& selection = workspace.selection();
    const auto* group = workspace.facts().group(selection.current());
    const auto* model = workspace.facts().model();
    if (!group || !group->fused || group->members.size() < 2 || selection.isModule()
        || workspace.selectedEntries().size() != 1)
        return;
    const NodeTitles titles(*model);
    for (NodeId id : group->members) {
        const Node& node = model->get(id);
        // A torch.nn layer gets a rule for the layer, as torch.ao's users write it.
        const bool layer
            = node.scope.moduleClass.starts_with("torch.nn.") && !node.scope.path.empty();
        out.push_back({QObject::tr("only %1").arg(toQString(titles.of(node))),
                       layer ? AssignTarget {RuleKind::ModuleName, {node.scope.path}}
                             : AssignTarget {RuleKind::Node, {node.name}}});
    }
}

using OperatorsByModule = std::unordered_map<std::string, std::vector<const Node*>>;

/// Operators by their innermost module, in graph order.
OperatorsByModule operatorsByModule(const Graph& model)
{
    OperatorsByModule out;
    for (const auto& node : model.nodes())
        if (node->kind == NodeKind::Op)
            out[node->scope.path].push_back(node.get());
    return out;
}

/// Returns the innermost repeated module at or above an entry of the tree; -1 if no module repeats.
int repeatingAncestor(Workspace& workspace, int entry)
{
    const auto& tree = *workspace.foldTree();
    for (; entry > FoldTree::kRoot; entry = tree.entry(entry).parent)
        if (tree.entry(entry).isModule()
            && workspace.repeats().inPlace(tree.entry(entry).path).size() > 1)
            return entry;
    return -1;
}

/// Returns the paths that correspond to `path` in every repeat of the block: "layers.3.fc" for
/// "layers.0.fc".
std::vector<std::string> samePlace(Workspace& workspace, const std::string& block,
                                   const std::string& path)
{
    auto out = workspace.repeats().inPlace(block);
    if (!ModuleTree::isWithin(path, block))
        return {};
    for (auto& other : out)
        other += path.substr(block.size());
    return out;
}

/// Returns the selected nodes' counterparts in every repeat of their innermost block. Empty if the
/// block of a node does not repeat.
std::vector<std::string> repeatedNodes(Workspace& workspace)
{
    const auto& nodes = workspace.selection().nodes();
    const auto& tree = *workspace.foldTree();
    const Graph& model = *workspace.document().model();
    if (nodes.empty() || nodes.size() > kMostRepeated
        || repeatingAncestor(workspace, tree.unitOf(nodes.front())) < 0)
        return {};
    const OperatorsByModule operators = operatorsByModule(model);
    std::vector<std::string> names;
    for (NodeId id : nodes) {
        const Node& node = model.get(id);
        if (node.kind != NodeKind::Op)
            continue;
        const int block = repeatingAncestor(workspace, tree.unitOf(id));
        if (block < 0)
            return {};
        const auto& own = operators.at(node.scope.path);
        const auto at = std::find(own.begin(), own.end(), &node) - own.begin();
        for (const auto& path : samePlace(workspace, tree.entry(block).path, node.scope.path))
            if (const auto same = operators.find(path);
                same != operators.end() && at < qsizetype(same->second.size()))
                names.push_back(same->second[std::size_t(at)]->name);
    }
    return names;
}

/// Adds "in all 12 repeats": the selected module or nodes in every repeat of their block.
void addRepeats(Workspace& workspace, std::vector<AssignScope>& out)
{
    const auto& selection = workspace.selection();
    if (selection.isModule()) {
        const std::string path = selection.modulePath().toStdString();
        if (path.empty())
            return; // the whole model
        const int entry = workspace.foldTree()->moduleEntry(path);
        const int around = entry > FoldTree::kRoot
            ? repeatingAncestor(workspace, workspace.foldTree()->entry(entry).parent)
            : -1;
        auto paths = around < 0
            ? workspace.repeats().inPlace(path)
            : samePlace(workspace, workspace.foldTree()->entry(around).path, path);
        const auto equal = workspace.repeats().of(path);
        const std::size_t count = std::max(paths.size(), std::size_t(1));
        if (count > 1)
            out.push_back({QObject::tr("this module in all %1 repeats").arg(count),
                           {RuleKind::ModuleName, std::move(paths)}});
        if (equal.size() > count)
            out.push_back({QObject::tr("all %1 equal modules").arg(equal.size()),
                           {RuleKind::ModuleName, {equal.begin(), equal.end()}}});
        return;
    }
    const auto own = workspace.nodeTarget().keys.size();
    auto names = repeatedNodes(workspace);
    if (own > 0 && names.size() > own)
        out.push_back({QObject::tr("the same in all %1 repeats").arg(names.size() / own),
                       {RuleKind::Node, std::move(names)}});
}

} // namespace

std::vector<AssignScope> assignScopes(Workspace& workspace)
{
    std::vector<AssignScope> out;
    const auto& selection = workspace.selection();
    const auto& tree = workspace.foldTree();
    const auto entries = workspace.selectedEntries();
    if (!tree || entries.empty())
        return out;
    const std::string selected = selection.modulePath().toStdString();
    // A wrapped method is not a module: rules are made for its operators.
    if (selection.isModule() && moduleOfPath(selected) == selected) {
        if (!selected.empty())
            out.push_back(moduleScope(selected, QObject::tr("this module")));
    } else {
        auto nodes = workspace.nodeTarget();
        if (!nodes.keys.empty())
            out.push_back({entries.size() == 1 ? QObject::tr("this node")
                                               : QObject::tr("these %1 nodes").arg(entries.size()),
                           std::move(nodes)});
    }
    addMembers(workspace, out);
    addRepeats(workspace, out);
    for (int up = tree->entry(entries.front()).parent; up > FoldTree::kRoot;
         up = tree->entry(up).parent) {
        const std::string& path = tree->entry(up).path;
        if (moduleOfPath(path) == path)
            out.push_back(moduleScope(path, QObject::tr("module %1").arg(toQString(path))));
    }
    if (const auto* decided = workspace.facts().plan(selection.current());
        decided && !decided->pattern.empty()) {
        QStringList names;
        for (const auto& name : decided->pattern)
            names << toQString(lastPart(name));
        out.push_back({QObject::tr("all %1").arg(names.join(QStringLiteral(" + "))),
                       {RuleKind::ObjectType, decided->pattern}});
    }
    out.push_back({QObject::tr("whole model"), {RuleKind::Global, {""}}});
    return out;
}

std::vector<AssignChoice> assignChoices(const Workspace& workspace)
{
    const Recipe& recipe = workspace.document().recipe();
    const std::string preset = presetOf(recipe.target());
    std::vector<AssignChoice> out = {{QStringLiteral("float"), std::string(), {}, true}};
    for (const QString& text : workspace.qconfigNames()) {
        const std::string name = text.toStdString();
        const auto config = findQConfig(recipe, name);
        out.push_back({text, name, config ? toQString(qconfigWords(*config)) : QString(),
                       recipe.qconfigs.count(name) > 0 || name == preset});
    }
    out.push_back({QObject::tr("by rule"), std::nullopt, {}});
    return out;
}

} // namespace qs
