// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/run_record.h"

#include "engine/runs/node_match.h"

#include <cmath>
#include <ctime>

namespace qs {

std::string_view runTermName(RunTerm term)
{
    static constexpr std::string_view kNames[]
        = {"born_here", "cumulative", "isolated", "inherited"};
    return kNames[int(term)];
}

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

namespace {

std::optional<double> outputSqnr(const RunOutput& output)
{
    const auto& metrics = output.lowered ? output.lowered : output.reference;
    return metrics ? metrics->sqnrDb : std::nullopt;
}

} // namespace

const RunOutput* RunHeadline::worstOutput() const
{
    const RunOutput* worst = nullptr;
    std::optional<double> least;
    for (const RunOutput& output : outputs) {
        const auto own = outputSqnr(output);
        if (!worst || (own && (!least || *own < *least))) {
            worst = &output;
            least = own;
        }
    }
    return worst;
}

std::optional<double> RunHeadline::outputDb() const
{
    const RunOutput* worst = worstOutput();
    if (!worst)
        return std::nullopt;
    if (worst->lowered && worst->lowered->sqnrDb)
        return worst->lowered->sqnrDb;
    return worst->reference ? worst->reference->sqnrDb : std::nullopt;
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
        NodeError error {model.tryFind(own[i].name)->id,  node.error(RunTerm::Isolated),
                         node.error(RunTerm::Inherited),  node.error(RunTerm::BornHere),
                         node.error(RunTerm::Cumulative), node.kl};
        if (error.isolated || error.inherited || error.bornHere || error.cumulative)
            out->nodes.push_back(error);
    }
    for (const RunOutput& output : run.headline.outputs)
        out->outputs.push_back({output.name, output.reference, output.lowered});
    out->floatTop1 = run.headline.floatTop1;
    out->int8Top1 = run.headline.int8Top1;
    if (run.headline.agreement)
        out->agreement = Agreement {{}, *run.headline.agreement};
    out->samples = run.headline.samples;
    out->againstOriginal = run.againstOriginal;
    out->unpaired = run.unpaired;
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
