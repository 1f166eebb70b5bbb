// SPDX-License-Identifier: Apache-2.0
#include "engine/result/result_figures.h"

#include "engine/plan/summaries/coverage.h"
#include "engine/result/error_json.h"
#include "engine/result/sample_json.h"

namespace qs {

namespace {

template<class T>
std::optional<T> valueAt(const Json* owner, const char* key)
{
    const Json* value = owner ? memberOf(*owner, key) : nullptr;
    return value ? std::optional(value->get<T>()) : std::nullopt;
}

} // namespace

ResultFigures resultFigures(const Comparison& comparison, const Plan& plan,
                            const ModuleStatisticsMap& sizes)
{
    const Coverage coverage = coverageOf(plan);
    ResultFigures out {static_cast<const WholeErrors&>(comparison), coverage.quantized,
                       coverage.eligible, coverage.total};
    if (const auto all = sizes.find(""); all != sizes.end()) {
        out.floatBytes = all->second.floatBytes;
        out.int8Bytes = all->second.plannedBytes;
    }
    return out;
}

ResultFigures resultFigures(const Json& document)
{
    ResultFigures out;
    for (const Json& output : document.at("outputs"))
        out.outputs.push_back({output.at("name").get<std::string>(),
                               metricsAt(output, "cumulative"), metricsAt(output, "lowered"),
                               metricsAt(output, "forms")});
    const Json* labels = memberOf(document, "labels");
    out.floatTop1 = valueAt<double>(labels, "float_top1");
    out.int8Top1 = valueAt<double>(labels, "int8_top1");
    const Json* agreement = memberOf(document, "agreement");
    if (const auto top1 = valueAt<double>(agreement, "top1"))
        out.agreement = {agreement->value("output", ""), *top1};
    out.evaluation = evaluationIn(document);
    out.sampleErrors = sampleErrorsFromJson(memberOf(document, "sample_errors"));
    const Json* coverage = memberOf(document, "coverage");
    out.quantizedOps = valueAt<int>(coverage, "quantized");
    out.eligibleOps = valueAt<int>(coverage, "eligible");
    out.totalOps = valueAt<int>(coverage, "total");
    const Json* weights = memberOf(document, "weights");
    out.floatBytes = valueAt<std::int64_t>(weights, "float_bytes");
    out.int8Bytes = valueAt<std::int64_t>(weights, "int8_bytes");
    const Json* data = memberOf(document, "data");
    const auto samples = valueAt<std::int64_t>(data, "compared_samples");
    out.samples = samples.value_or(valueAt<std::int64_t>(&document, "samples").value_or(0));
    out.data = valueAt<std::string>(data, "comparison").value_or("");
    if (out.data.empty())
        out.data = valueAt<std::string>(data, "calibration").value_or("");
    out.againstOriginal = fieldText(document, "against") == "original";
    out.unpaired = valueAt<std::vector<std::string>>(&document, "unpaired")
                       .value_or(std::vector<std::string>());
    return out;
}

Json evaluationJson(const Evaluation& evaluation)
{
    return {{"float", evaluation.floating}, {"int8", evaluation.int8}};
}

std::optional<Evaluation> evaluationIn(const Json& document)
{
    const Json* made = memberOf(document, "evaluation");
    const auto floating = made ? numberAt(*made, "float") : std::nullopt;
    const auto int8 = made ? numberAt(*made, "int8") : std::nullopt;
    return floating && int8 ? std::optional(Evaluation {*floating, *int8}) : std::nullopt;
}

} // namespace qs
