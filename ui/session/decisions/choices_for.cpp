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
    std::vector<NodeId> out;
    for (const auto& node : workspace.document().model()->nodes()) {
        if (!node->isOperator())
            continue;
        const auto* decided = workspace.facts().plan(node->id);
        bool isReached = target.kind == RuleKind::Global;
        if (target.kind == RuleKind::ObjectType)
            isReached = decided && decided->pattern == target.keys;
        for (const std::string& key : target.keys)
            isReached |= (target.kind == RuleKind::Node && node->name == key)
                || (target.kind == RuleKind::ModuleName
                    && ModuleTree::isWithin(node->scope.path, key));
        if (isReached)
            out.push_back(node->id);
    }
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
