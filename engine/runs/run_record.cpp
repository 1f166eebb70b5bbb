// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/run_record.h"

#include "engine/runs/node_match.h"

#include <cmath>
#include <ctime>

namespace qs {

std::optional<double> metricOf(const ErrorMetrics& metrics, std::size_t metric)
{
    const auto finite
        = [](double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; };
    switch (metric) {
    case 0:
        return metrics.sqnrDb;
    case 1:
        return finite(metrics.cosine);
    case 2:
        return finite(metrics.mse);
    default:
        return finite(metrics.maxAbs);
    }
}

ComparisonPtr comparisonOf(const RunRecord& run, const Graph& model)
{
    const std::vector<NodeIdentity> own = identitiesOf(model);
    std::vector<const NodeIdentity*> first, second;
    for (const RunNode& node : run.nodes)
        first.push_back(&node);
    for (const NodeIdentity& node : own)
        second.push_back(&node);
    auto out = std::make_shared<Comparison>();
    const std::vector<int> places = matchNodes(first, second);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] < 0)
            continue;
        const RunNode& node = run.nodes[std::size_t(places[i])];
        NodeError error = node.errors;
        error.node = model.tryFind(own[i].name)->id;
        if (error.isolated || error.inherited || error.bornHere || error.cumulative)
            out->nodes.push_back(error);
    }
    static_cast<WholeErrors&>(*out) = run.headline;
    return out;
}

std::string utcText(std::int64_t secondsSinceEpoch)
{
    const std::time_t time = secondsSinceEpoch;
    std::tm parts {};
    gmtime_r(&time, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

} // namespace qs
