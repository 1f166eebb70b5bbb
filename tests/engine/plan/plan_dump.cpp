// SPDX-License-Identifier: Apache-2.0
// plan_dump MODEL [RECIPE [BACKEND]]: plans a model file and prints everything the plan holds as
// JSON, the observers with their edges included.
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"

#include <iostream>

using namespace qs;

namespace {

Json nodeToJson(const Graph& graph, const NodePlan& plan)
{
    const Node& node = graph.get(plan.node);
    Json values = Json::array();
    for (const auto& value : node.outputs)
        values.push_back(value.name);
    return {{"name", node.name},
            {"kind", nodeKindName(node.kind)},
            {"values", values},
            {"target", node.target},
            {"module_class", node.scope.moduleClass},
            {"module", node.scope.path},
            {"verdict", verdictName(plan.verdict)},
            {"quantized", plan.quantized},
            {"eligible", plan.eligible},
            {"reason", plan.reason.text()},
            {"pattern", plan.pattern},
            {"group", plan.group},
            {"qconfig", plan.qconfigName},
            {"rule", {ruleKindName(plan.rule.kind), plan.rule.key, plan.rule.qconfig.name}},
            {"overrides", plan.overrides.size()},
            {"suggestion", plan.remedy.text}};
}

Json observerToDump(const Graph& graph, const PlannedObserver& observer)
{
    Json out {{"id", observer.id.value()},
              {"spec", observerToJson(observer.spec)},
              {"weight_of", observer.isWeight ? graph.get(observer.weightOwner).name : ""},
              {"edges", Json::array()}};
    for (const auto& edge : observer.edges) {
        Json readers = Json::array();
        for (const Use& use : edge.readers)
            readers.push_back({graph.get(use.node).name, use.argument});
        out["edges"].push_back({{"value", graph.value(edge.value).name}, {"readers", readers}});
    }
    return out;
}

Result<Json> dump(int argc, char** argv)
{
    QS_TRY(const GraphPtr graph, importModel(argv[1]));
    Recipe recipe = defaultRecipe();
    if (argc > 2) {
        QS_TRY(recipe, readRecipe(argv[2]));
    }
    QS_TRY(const Backend backend, findBackend(argc > 3 ? argv[3] : recipe.target()));
    QS_TRY(const Plan plan, makePlan(*graph, recipe, backend));
    Json out {{"backend", plan.backend},
              {"quantized", plan.quantizedOps},
              {"eligible", plan.eligibleOps},
              {"total", plan.totalOps},
              {"warnings", plan.warnings}};
    for (const auto& node : plan.nodes)
        out["nodes"].push_back(nodeToJson(*graph, node));
    for (const auto& group : plan.groups) {
        Json members = Json::array();
        for (const NodeId id : group.members)
            members.push_back(graph->get(id).name);
        out["groups"].push_back({{"members", members},
                                 {"root", graph->get(group.root).name},
                                 {"quantized", group.quantized},
                                 {"fused", group.fused},
                                 {"fused_module", group.fusedModule},
                                 {"reference_module", group.referenceModule}});
    }
    out["observers"] = Json::array();
    for (const auto& observer : plan.observers)
        out["observers"].push_back(observerToDump(*graph, observer));
    return out;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const auto out = dump(argc, argv);
    if (!out) {
        std::cerr << out.error().line() << "\n";
        return 1;
    }
    std::cout << out->dump(1) << "\n";
    return 0;
}
