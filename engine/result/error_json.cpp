// SPDX-License-Identifier: Apache-2.0
#include "engine/result/error_json.h"

#include <cmath>
#include <limits>

namespace qs {

Json numberJson(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numberJson(const std::optional<double>& value)
{
    return value ? numberJson(*value) : Json(nullptr);
}

double orInfinity(const Json& owner, const char* key)
{
    const Json& value = owner.at(key);
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

Json metricsJson(const std::optional<ErrorMetrics>& metrics)
{
    if (!metrics)
        return nullptr;
    Json json {{"sqnr_db", numberJson(metrics->sqnrDb)},
               {"cosine", numberJson(metrics->cosine)},
               {"mse", numberJson(metrics->mse)},
               {"max_abs", numberJson(metrics->maxAbs)}};
    if (metrics->samples) {
        json["samples"] = *metrics->samples;
        json["standard_error_db"] = numberJson(metrics->standardErrorDb);
    }
    return json;
}

Json errorJson(const NodeError& error)
{
    Json json = Json::object();
    for (const ErrorTerm term : kTableTerms)
        json[std::string(errorTermName(term))] = metricsJson(error.term(term));
    if (error.cumulative)
        json["cumulative"]["kl"] = numberJson(error.kl);
    return json;
}

Json agreementJson(const std::optional<Agreement>& agreement)
{
    if (!agreement)
        return nullptr;
    return {{"output", agreement->output}, {"top1", numberJson(agreement->top1)}};
}

std::optional<ErrorMetrics> metricsAt(const Json& owner, std::string_view key)
{
    const auto json = owner.find(key);
    if (json == owner.end() || json->is_null())
        return std::nullopt;
    ErrorMetrics metrics {numberAt(*json, "sqnr_db"), orInfinity(*json, "cosine"),
                          orInfinity(*json, "mse"), orInfinity(*json, "max_abs")};
    if (const Json* samples = memberOf(*json, "samples"))
        metrics.samples = samples->get<std::int64_t>();
    metrics.standardErrorDb = numberAt(*json, "standard_error_db");
    return metrics;
}

NodeError errorsAt(const Json& node)
{
    const Json* error = memberOf(node, "error");
    if (!error)
        return {};
    const auto of = [&](ErrorTerm term) { return metricsAt(*error, errorTermName(term)); };
    return {{},
            of(ErrorTerm::Isolated),
            of(ErrorTerm::Inherited),
            of(ErrorTerm::BornHere),
            of(ErrorTerm::Cumulative),
            errorTerm(node, ErrorTerm::Cumulative, "kl")};
}

Json stepsJson(const StepCounts& steps)
{
    return {{"count", steps.count},
            {"equal", steps.equal()},
            {"mean", numberJson(steps.mean())},
            {"max", numberJson(steps.largest)},
            {"histogram", steps.histogram}};
}

StepCounts stepsFromJson(const Json& json)
{
    StepCounts steps;
    steps.count = json.at("count").get<std::int64_t>();
    steps.sum = orInfinity(json, "mean") * double(steps.count);
    steps.largest = orInfinity(json, "max");
    steps.histogram = json.at("histogram").get<decltype(steps.histogram)>();
    return steps;
}

Json departureJson(const FormDeparture& departure)
{
    Json json = stepsJson(departure.steps);
    if (departure.referenceDb && departure.loweredDb) {
        json["reference_db"] = numberJson(*departure.referenceDb);
        json["lowered_db"] = numberJson(*departure.loweredDb);
    }
    return json;
}

FormDeparture departureFromJson(NodeId node, const Json& json)
{
    FormDeparture departure {node, stepsFromJson(json)};
    departure.referenceDb = numberAt(json, "reference_db");
    departure.loweredDb = numberAt(json, "lowered_db");
    return departure;
}

} // namespace qs
