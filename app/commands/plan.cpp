// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "app/commands/planned_model.h"
#include "engine/export/result_writer.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct PlanOptions
{
    std::string model, recipe;
    bool json = false;
};

/// "torch.nn.Conv2d + torch.nn.ReLU" as "Conv2d + ReLU".
std::string shortPattern(const std::vector<std::string>& pattern)
{
    std::string text;
    for (const auto& name : pattern)
        text += (text.empty() ? "" : " + ") + name.substr(name.rfind('.') + 1);
    return text.empty() ? "-" : text;
}

std::string ruleText(const Rule& rule)
{
    std::string text(ruleKindName(rule.kind));
    return rule.key.empty() ? text : text + " " + rule.key;
}

std::string planText(const PlannedModel& planned)
{
    TextTable table(
        {"node", "operator", "module", "pattern", "qconfig", "rule", "verdict", "reason"});
    const auto nodes = planned.model->nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i];
        if (node.kind != NodeKind::Op && node.kind != NodeKind::ModuleCall)
            continue;
        const NodePlan& plan = planned.plan->nodes.at(i);
        table.add({node.name, node.target, node.scope.path, shortPattern(plan.pattern),
                   plan.qconfig ? plan.qconfigName : "-", ruleText(plan.rule),
                   std::string(verdictName(plan.verdict)), plan.reason});
    }
    return table.text() + "\nbackend " + planned.plan->backend + ": " + coverageText(*planned.plan)
        + "\n";
}

Result<void> runPlan(const PlanOptions& options, const JobContext& job)
{
    QS_TRY(const PlannedModel planned, planModel(options.model, options.recipe, job));
    if (options.json)
        return printOut(planJson(*planned.model, *planned.plan, planned.recipe));
    return printOut(planText(planned));
}

} // namespace

void addPlanCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<PlanOptions>();
    CLI::App* verb
        = app.add_subcommand("plan", "Says what a recipe would do to every node, and why");
    verb->add_option("MODEL", options->model, "a .pt2 or TorchScript .pt file")->required();
    verb->add_option("--recipe", options->recipe, "the decisions; without one backend x86's own");
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const JobContext& job) { return runPlan(*options, job); };
    });
}

} // namespace qs
