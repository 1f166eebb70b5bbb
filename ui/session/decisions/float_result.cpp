// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/float_result.h"

#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/plan/overrides/float_results.h"
#include "engine/plan/rules/node_rules.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// Returns the groups among the nodes whose layer is statically quantized and may return float.
std::vector<const MatchGroup*> layersAmong(Workspace& workspace, const std::vector<NodeId>& nodes)
{
    const auto& document = workspace.document();
    std::vector<const MatchGroup*> layers;
    std::set<int> seen;
    for (const NodeId node : nodes) {
        const NodePlan* decided = workspace.facts().plan(node);
        if (!document.plan() || !decided || decided->group < 0 || !decided->qconfig
            || !isIntegerDType(decided->qconfig->activation.dtype)
            || decided->qconfig->activation.isDynamic || !seen.insert(decided->group).second)
            continue;
        const MatchGroup& group = document.plan()->groups[std::size_t(decided->group)];
        if (group.quantized && mayGiveFloat(*document.model(), group.members))
            layers.push_back(&group);
    }
    return layers;
}

} // namespace

FloatResultChoice floatResultOf(Workspace& workspace, const std::vector<NodeId>& nodes)
{
    const auto layers = layersAmong(workspace, nodes);
    if (layers.empty())
        return {false, false, QObject::tr("Only quantized linears and convolutions have it")};
    FloatResultChoice choice;
    choice.isOn = std::all_of(layers.begin(), layers.end(),
                              [](const MatchGroup* group) { return group->floatResult; });
    choice.isOpen = std::all_of(layers.begin(), layers.end(), [&](const MatchGroup* group) {
        const NodePlan* decided = workspace.facts().plan(group->members.back());
        return !group->floatResult || (decided && decided->qconfig->floatResult);
    });
    choice.why = choice.isOpen
        ? QObject::tr("The result is not quantized: each reader quantizes it for itself, or reads "
                      "it as float")
        : QObject::tr("By needless_outputs of the recipe: only float operators read the result");
    return choice;
}

void setFloatResult(Workspace& workspace, const std::vector<NodeId>& nodes, bool isFloat)
{
    const auto& document = workspace.document();
    Recipe recipe = document.recipe();
    QString whom;
    for (const MatchGroup* group : layersAmong(workspace, nodes)) {
        const NodePlan* decided = workspace.facts().plan(group->members.back());
        QConfig changed = *decided->qconfig;
        changed.floatResult = isFloat;
        const NamedQConfig named
            = addQConfig(recipe, changed, decided->qconfigName + "_float_result");
        setNodeRules(recipe, *document.model(), group->members, named);
        whom = workspace.facts().title(group->members.back());
    }
    workspace.change(isFloat ? QObject::tr("leave the result of %1 float").arg(whom)
                             : QObject::tr("quantize the result of %1").arg(whom),
                     std::move(recipe));
}

} // namespace qs
