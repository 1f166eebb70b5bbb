// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/target.h"
#include "engine/export/documents/node_json.h"
#include "engine/plan/plan_diff.h"
#include "engine/plan/summaries/data_movement.h"

namespace qs {

namespace {

Json modelJson(const Graph& model)
{
    return {{"path", model.info().path}, {"sha256", model.info().sha256}};
}

Json sideJson(const Recipe& recipe, const Plan& plan)
{
    Json json = targetJson(recipe);
    json["backend"] = plan.backend;
    json["coverage"] = coverageJson(plan);
    json["warnings"] = plan.warnings;
    return json;
}

Json decisionJson(const NodePlan& plan)
{
    Json json = {{"verdict", verdictName(plan.verdict)},
                 {"quantized", plan.quantized},
                 {"qconfig", plan.qconfig ? Json(plan.qconfigName) : Json()},
                 {"pattern", plan.pattern}};
    addReason(json, plan.reason);
    return json;
}

Json amountJson(const MovedAmount& amount)
{
    return {{"values", amount.values}, {"bytes", amount.bytes}};
}

/// Adds "crossings" (values and bytes converted between float and integers) for the plan and for
/// each float operator that causes some.
void addCrossings(Json& json, const Graph& model, const Plan& plan)
{
    const DataMovement movement(model, plan);
    json["crossings"] = amountJson(movement.whole());
    for (Json& node : json["nodes"]) {
        const Node* found = model.tryFind(node["name"].get<std::string>());
        const NodePlan* decided = found ? plan.tryGet(model, found->id) : nullptr;
        if (!decided || decided->quantized || !found->isOperator())
            continue;
        if (const auto own = movement.causedBy(plan, *decided); own.values > 0)
            node["crossings"] = amountJson(own);
    }
}

} // namespace

Json targetJson(const Recipe& recipe)
{
    const std::string global = globalQConfig(recipe);
    Json json
        = {{"target",
            {{"backend", recipe.target()}, {"global", global.empty() ? Json() : Json(global)}}}};
    if (!recipe.namesTarget())
        json["target_assumed"] = assumedTarget(recipe);
    return json;
}

std::string planJson(const Graph& model, const Plan& plan, const Recipe& recipe,
                     const PlannedMemory& memory)
{
    ResultParts parts;
    parts.model = &model;
    parts.plan = &plan;
    parts.recipe = &recipe;
    Json json = {{"format", "quantscope.plan"}, {"version", 1}, {"model", modelJson(model)}};
    json.update(sideJson(recipe, plan));
    json["findings"] = findingsJson(model, plan);
    json.update(fakeQuantizersJson(model, plan));
    json["nodes"] = NodeJson(parts, false).nodes().value(); // fails only if cancelled
    addCrossings(json, model, plan);
    if (const auto wraps = wrapsOf(model, recipe); !wraps.empty()) {
        const WrapKeys keys = wrapKeys(model, wraps);
        for (Json& node : json["nodes"])
            markWrapped(node, keys);
        json["wraps"] = wrapsJson(model, wraps);
    }
    Json stages = Json::object();
    for (const auto& [stage, bytes] : memory.stages)
        stages[stage] = bytes;
    json["memory"] = {{"peak", memory.peak},
                      {"batch_size", memory.batchSize},
                      {"device", memory.device},
                      {"stages", std::move(stages)}};
    return json.dump(2) + "\n";
}

std::string planDiffJson(const Graph& model, const PlanSide& before, const PlanSide& after)
{
    Json nodes = Json::array();
    for (const NodeChange& change : comparePlans(model, before.plan, after.plan)) {
        const Node& node = *model.nodes()[change.position];
        Json changed = Json::array();
        if (change.verdict)
            changed.push_back("verdict");
        if (change.qconfig)
            changed.push_back("qconfig");
        if (change.pattern)
            changed.push_back("pattern");
        nodes.push_back({{"name", node.name},
                         {"op", opName(node)},
                         {"module", node.scope.path},
                         {"changed", std::move(changed)},
                         {"before", decisionJson(before.plan.nodes[change.position])},
                         {"after", decisionJson(after.plan.nodes[change.position])}});
    }
    const Json json = {{"format", "quantscope.plan_diff"},
                       {"version", 1},
                       {"model", modelJson(model)},
                       {"before", sideJson(before.recipe, before.plan)},
                       {"after", sideJson(after.recipe, after.plan)},
                       {"nodes", std::move(nodes)}};
    return json.dump(2) + "\n";
}

} // namespace qs
