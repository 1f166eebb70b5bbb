// SPDX-License-Identifier: Apache-2.0
#include "engine/values/inspection_json.h"

#include "engine/export/documents/node_json.h"
#include "engine/graph/source_frames.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

Json quantilesJson(const std::optional<Quantiles>& quantiles)
{
    if (!quantiles)
        return nullptr;
    return {{"p1", numberJson(quantiles->p1)},         {"q1", numberJson(quantiles->q1)},
            {"median", numberJson(quantiles->median)}, {"q3", numberJson(quantiles->q3)},
            {"p99", numberJson(quantiles->p99)},       {"error", numberJson(quantiles->error)}};
}

Json channelsJson(const std::vector<ChannelError>& channels, bool ofWeight)
{
    Json list = Json::array();
    for (const ChannelError& one : channels) {
        Json json {{"result", one.result},
                   {"channel", one.channel},
                   {"sqnr_db", numberJson(one.sqnrDb)},
                   {"mse", numberJson(one.mse)},
                   {"max_abs", numberJson(one.maxAbs)},
                   {"signal", numberJson(one.signal)},
                   {"noise", numberJson(one.noise)},
                   {"count", one.count},
                   {"min", numberJson(one.low)},
                   {"max", numberJson(one.high)},
                   {"quantiles", quantilesJson(one.quantiles)},
                   {"wide", one.isWide},
                   {"noisy", one.isNoisy}};
        if (ofWeight) {
            json.erase("result");
            json["scale"] = numberJson(one.scale);
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json sampleJson(std::int64_t index, const SampleError& sample)
{
    return {{"sample", index},
            {"sqnr_db", numberJson(sample.sqnrDb)},
            {"max_abs", numberJson(sample.maxAbs)},
            {"signal", numberJson(sample.signal)},
            {"noise", numberJson(sample.noise)}};
}

Json resultsJson(const ValueInspection& inspection)
{
    Json list = Json::array();
    for (const ResultInspection& result : inspection.results)
        list.push_back(
            {{"name", result.name},
             {"shape", result.shape},
             {"channel_axis", result.channelAxis < 0 ? Json(nullptr) : Json(result.channelAxis)},
             {"channels", result.channels}});
    return list;
}

Json weightsJson(const ValueInspection& inspection)
{
    Json list = Json::array();
    for (const WeightInspection& weight : inspection.weights) {
        Json json {{"node", weight.node},
                   {"name", weight.name},
                   {"dtype", weight.dtype},
                   {"qscheme", weight.scheme.empty() ? Json(nullptr) : Json(weight.scheme)},
                   {"shape", weight.shape},
                   {"channel_axis", weight.channelAxis},
                   {"error", metricsJson(weight.error)}};
        json["channels"] = channelsJson(weight.channels, true);
        list.push_back(std::move(json));
    }
    return list;
}

Json valuesJson(const SampleValues* sample)
{
    if (!sample)
        return nullptr;
    return {{"sample", sample->sample},
            {"result", sample->result},
            {"shape", sample->shape},
            {"channel_axis", sample->channelAxis < 0 ? Json(nullptr) : Json(sample->channelAxis)},
            {"of_batch", sample->ofBatch},
            {"first_plane", sample->firstPlane},
            {"planes", sample->planes}};
}

/// Returns the node's source location, with source lines if the file is found.
Json sourceJson(const Node* node, const SourceExcerpt* source)
{
    if (!node || node->source.file.empty())
        return nullptr;
    Json json {{"file", node->source.file},
               {"line", node->source.line},
               {"function", innermostFunction(node->source)},
               {"code", node->source.code},
               {"found", source ? Json(source->path) : Json(nullptr)}};
    if (source) {
        json["same"] = source->isSame;
        json["first_line"] = source->firstLine;
        json["lines"] = source->lines;
    }
    return json;
}

} // namespace

std::string inspectionJson(const InspectionParts& parts)
{
    const ValueInspection& inspection = *parts.inspection;
    const ModelInfo& info = parts.model->info();
    const Node* node = inspection.target.output ? nullptr : parts.model->tryFind(inspection.name);
    Json error = metricsJson(inspection.error);
    if (error.is_object())
        error["kl"] = numberJson(inspection.kl);
    Json json {{"format", "quantscope.look"},
               {"version", 1},
               {"model", {{"path", info.path}, {"sha256", info.sha256}}},
               {"node", node ? Json(node->name) : Json(nullptr)},
               {"output", inspection.target.output ? Json(inspection.name) : Json(nullptr)},
               {"quantized", inspection.quantized},
               {"against", parts.againstOriginal ? "original" : "edited"},
               {"samples", inspection.sampleCount}};
    json["error"] = std::move(error);
    json["results"] = resultsJson(inspection);
    json["channels"] = channelsJson(inspection.channels, false);
    json["sample_errors"] = Json::array();
    for (std::size_t i = 0; i < inspection.samples.size(); ++i)
        json["sample_errors"].push_back(sampleJson(std::int64_t(i), inspection.samples[i]));
    json["worst_samples"] = Json::array();
    for (const std::int64_t i : worstSamples(inspection, parts.worst))
        json["worst_samples"].push_back(sampleJson(i, inspection.samples[std::size_t(i)]));
    json["weights"] = weightsJson(inspection);
    json["sample"] = valuesJson(parts.sample);
    json["source"] = sourceJson(node, parts.source);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace qs
