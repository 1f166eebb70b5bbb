// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/choices_for.h"

#include "engine/configure/extension_packs.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

namespace {

/// Operators that a rule of the target reaches.
std::vector<NodeId> nodesOf(const Workspace& workspace, const AssignTarget& target)
{
    const Graph& model = *workspace.document().model();
    std::vector<NodeId> out;
    if (target.kind == RuleKind::Node) {
        for (const std::string& key : target.keys)
            if (const Node* node = model.tryFind(key))
                out.push_back(node->id);
        return out;
    }
    const auto isReached = [&](const Node& node) {
        const auto* decided = workspace.facts().plan(node.id);
        switch (target.kind) {
        case RuleKind::ObjectType:
            return decided && decided->pattern == target.keys;
        case RuleKind::ModuleName:
            return std::any_of(target.keys.begin(), target.keys.end(), [&](const auto& path) {
                return ModuleTree::isWithin(node.scope.path, path);
            });
        default:
            return target.kind == RuleKind::Global;
        }
    };
    for (const auto& node : model.nodes())
        if (node->isOperator() && isReached(*node))
            out.push_back(node->id);
    return out;
}

} // namespace

std::vector<QConfigChoice> choicesFor(Workspace& workspace, const AssignTarget& target)
{
    const Document& document = workspace.document();
    if (!document.plan() || !document.model())
        return {};
    auto backend = findBackend(document.recipe().target());
    if (!backend)
        return {};
    return qconfigChoices(*document.model(), *document.plan(), document.recipe(),
                          withPackPatterns(std::move(*backend)), nodesOf(workspace, target));
}

void assignNew(Workspace& workspace, const AssignTarget& target, const std::string& name,
               const QConfig& config)
{
    Recipe recipe = workspace.document().recipe();
    recipe.qconfigs[name] = config;
    workspace.change(QObject::tr("make qconfig %1").arg(toQString(name)),
                     assignQConfig(recipe, target, name));
}

} // namespace qs
