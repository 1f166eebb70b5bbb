// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_text.h"
#include "engine/base/memory/free_later.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/configure/extension_packs.h"
#include "engine/export/cure_marks.h"
#include "engine/export/documents/forms_text.h"
#include "engine/export/documents/node_json.h"
#include "engine/export/documents/saturating_text.h"
#include "engine/plan/module_statistics.h"
#include "engine/plan/rules/given_ranges.h"
#include "engine/plan/summaries/coverage.h"
#include "engine/result/error_json.h"
#include "engine/result/sample_json.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace qs {

namespace {

Json labelsJson(const Comparison* comparison)
{
    if (!comparison || (!comparison->floatTop1 && !comparison->int8Top1))
        return nullptr;
    return {{"float_top1", numberJson(comparison->floatTop1)},
            {"int8_top1", numberJson(comparison->int8Top1)}};
}

Json outputsJson(const Comparison* comparison)
{
    Json list = Json::array();
    if (comparison)
        for (const OutputError& output : comparison->outputs)
            list.push_back({{"name", output.name},
                            {"cumulative", metricsJson(output.cumulative)},
                            {"lowered", metricsJson(output.lowered)},
                            {"forms", metricsJson(output.forms)}});
    return list;
}

Json saturatingJson(const std::optional<SaturatingErrors>& own)
{
    if (!own)
        return nullptr;
    Json outputs = Json::array();
    for (const OutputError& output : own->outputs)
        outputs.push_back({{"name", output.name}, {"cumulative", metricsJson(output.cumulative)}});
    return {{"files", own->files},
            {"values", own->values},
            {"outputs", std::move(outputs)},
            {"summary", saturatingLines(*own)}};
}

/// Summary of the differences between the lowered form, run as a whole, and the reference form;
/// null if they were not compared.
Json formsJson(const ResultParts& parts)
{
    const Comparison* comparison = parts.comparison;
    if (!comparison || comparison->departures.empty())
        return nullptr;
    const auto apart = outputsApart(*comparison);
    const auto nodeOf = [&](const FormDeparture* departure) {
        return departure ? parts.model->tryGet(departure->node) : nullptr;
    };
    Json json {{"sqnr_db", numberJson(apart)}, {"samples", comparison->departureSamples}};
    json.update(stepsJson(comparison->departed()));
    const Node* parting = nodeOf(comparison->parting());
    json["parting"] = parting ? Json(parting->name) : Json(nullptr);
    const Node* gap = nodeOf(comparison->gap());
    json["gap"] = gap ? Json(gap->name) : Json(nullptr);
    json["summary"] = formsLines(*parts.model, *comparison, parts.converted);
    return json;
}

/// Kernels that failed their check, by node of the reference form (`site`). They are needed to
/// lower the model again with the same result.
Json refusedJson(const ConvertedModel* converted)
{
    Json list = Json::array();
    if (converted)
        for (const KernelCheck& check : converted->checks)
            if (!check.passed)
                list.push_back({{"site", converted->reference->get(check.reference).name},
                                {"kernel", check.kernel},
                                {"reason", check.reason}});
    return list;
}

/// Bytes of parameters and buffers in the float model and as planned.
Json weightsJson(const ResultParts& parts)
{
    const auto all = moduleStatistics(*parts.model, parts.plan);
    const auto whole = all.find("");
    if (whole == all.end())
        return nullptr;
    return {{"float_bytes", whole->second.floatBytes}, {"int8_bytes", whole->second.plannedBytes}};
}

/// Losses that remain after lowering: `{kind, node, name, reason}` each.
Json residueJson(const ResultParts& parts)
{
    Json list = Json::array();
    if (parts.converted)
        for (const Residue& left : parts.converted->residue)
            list.push_back(
                {{"kind", left.kind == Residue::Kind::Unlowered ? "unlowered" : "dead_pair"},
                 {"node", left.node ? Json(parts.model->get(left.node).name) : Json(nullptr)},
                 {"name", left.name},
                 {"reason", left.reason}});
    return list;
}

/// Absolute path of data, so that the document does not depend on the current folder; "" and
/// "sample" are unchanged.
std::string placeOf(const std::string& data)
{
    std::error_code code;
    return data.empty() || data == "sample" ? data : std::filesystem::absolute(data, code).string();
}

Json dataJson(const ResultParts& parts)
{
    return {{"calibration", placeOf(parts.calibrationData)},
            {"calibration_sha256", parts.dataSha256},
            {"comparison", placeOf(parts.comparisonData)},
            {"comparison_sha256", parts.comparedSha256},
            {"calibration_batches", parts.observations ? parts.observations->batches : 0},
            {"calibration_samples", parts.observations ? parts.observations->samples : 0},
            {"compared_samples", parts.comparison ? parts.comparison->samples : 0}};
}

} // namespace

Json fakeQuantizersJson(const Graph& model, const Plan& plan)
{
    const GivenCount count = countGiven(model, plan);
    return count.found == 0
        ? Json::object()
        : Json {{"fake_quantizers", {{"found", count.found}, {"used", count.used}}}};
}

Json coverageJson(const Plan& plan)
{
    const Coverage all = coverageOf(plan);
    return {{"quantized", all.quantized}, {"eligible", all.eligible}, {"total", all.total}};
}

Result<std::string> resultJson(const ResultParts& parts, const JobContext& job)
{
    const ModelInfo& info = parts.model->info();
    QS_TRY(Json findings, findingsJson(parts, job));
    const auto document = makeFreedLater<Json>();
    Json& json = *document;
    json = {
        {"format", "quantscope.result"},
        {"version", 1},
        {"device", parts.device},
        {"against", parts.comparison && parts.comparison->againstOriginal ? "original" : "edited"},
        {"local_terms",
         parts.comparison && parts.comparison->allLocalTerms ? kAllLocalTerms : kSampledLocalTerms},
        {"threads", parts.threads},
        {"model", {{"path", info.path}, {"sha256", info.sha256}}},
        {"recipe_sha256", parts.recipeSha256},
        {"backend", parts.plan->backend},
        {"versions", {{"quantscope", QUANTSCOPE_VERSION}, {"torch", QUANTSCOPE_TORCH_VERSION}}},
        {"timing_s", parts.timingSeconds},
        {"peak_rss_bytes", peakResidentBytes()},
        {"data", dataJson(parts)},
        {"coverage", coverageJson(*parts.plan)},
        {"weights", weightsJson(parts)},
        {"labels", labelsJson(parts.comparison)},
        {"agreement", agreementJson(parts.comparison ? parts.comparison->agreement : std::nullopt)},
        {"sample_errors",
         sampleErrorsJson(parts.comparison ? parts.comparison->sampleErrors : nullptr)},
        {"warnings", parts.plan->warnings},
        {"findings", std::move(findings)},
        {"exports", parts.exports},
        {"exports_sha256", parts.exportHashes},
        {"outputs", outputsJson(parts.comparison)},
        {"own_ranges", saturatingJson(parts.saturating)},
        {"forms", formsJson(parts)}};
    json.update(targetJson(*parts.recipe));
    json.update(fakeQuantizersJson(*parts.model, *parts.plan));
    for (const ExtensionPackPtr& pack : loadedPacks())
        json["extensions"].push_back({{"name", pack->name}, {"sha256", pack->sha256}});
    if (const auto shapes = correctedShapesText(info); !shapes.empty())
        json["corrected_shapes"] = Json::parse(shapes);
    if (parts.comparison && !parts.comparison->unpaired.empty())
        json["unpaired"] = parts.comparison->unpaired;
    if (parts.ranks > 1)
        json["ranks"] = parts.ranks;
    if (!parts.backendSha256.empty())
        json["backend_sha256"] = parts.backendSha256;
    if (parts.evaluation)
        json["evaluation"] = evaluationJson(*parts.evaluation);
    QS_CHECK(job.check());
    const NodeJson nodes(parts, true);
    QS_TRY(json["nodes"], nodes.nodes(job));
    addCures(json, parts);
    if (parts.why)
        json["why"] = *parts.why;
    if (parts.search)
        json["search"] = *parts.search;
    json["observations"] = nodes.observations();
    json["convergence"] = convergenceJson(parts);
    json["residue"] = residueJson(parts);
    json["refused_kernels"] = refusedJson(parts.converted);
    QS_CHECK(job.check());
    QS_TRY(const std::string text, jsonText(json, {2, true}, job));
    return text + "\n";
}

} // namespace qs
