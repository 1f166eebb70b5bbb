// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_json.h"
#include "engine/result/sample_json.h"

namespace qs {

namespace {

Json errorJson(const std::optional<ErrorMetrics>& cumulative)
{
    if (!cumulative)
        return nullptr;
    return {{"isolated", nullptr},
            {"inherited", nullptr},
            {"born_here", nullptr},
            {"cumulative", metricsJson(cumulative)}};
}

} // namespace

std::string fileComparisonJson(const Graph& floating, const Graph& converted,
                               const FileComparison& comparison)
{
    Json nodes = Json::array(), outputs = Json::array();
    for (std::size_t i = 0; i < comparison.match.values.size(); ++i) {
        const ValueMatch& match = comparison.match.values[i];
        const Node& node = floating.get(match.floating.node);
        nodes.push_back({{"name", node.name},
                         {"op", opName(node)},
                         {"module", node.scope.path},
                         {"call_index", node.scope.callIndex},
                         {"module_class", node.scope.moduleClass},
                         {"matched", converted.get(match.converted.node).name},
                         {"error", errorJson(comparison.errors[i])}});
    }
    for (const OutputError& output : comparison.outputs)
        outputs.push_back({{"name", output.name}, {"cumulative", metricsJson(output.cumulative)}});
    const auto file = [](const Graph& graph) {
        return Json {{"path", graph.info().path}, {"sha256", graph.info().sha256}};
    };
    const Json json = {{"format", "quantscope.result"},
                       {"version", 1},
                       {"model", file(floating)},
                       {"compared", file(converted)},
                       {"samples", comparison.samples},
                       {"agreement", agreementJson(comparison.agreement)},
                       {"sample_errors", sampleErrorsJson(comparison.sampleErrors)},
                       {"outputs", std::move(outputs)},
                       {"nodes", std::move(nodes)},
                       {"unmatched",
                        {{"model", comparison.match.unmatchedFloat},
                         {"compared", comparison.match.unmatchedConverted}}}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace qs
