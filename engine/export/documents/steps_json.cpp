// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/steps_json.h"

#include "engine/export/documents/node_json.h"

#include <limits>

namespace qs {

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
    const auto number = [&](const char* key) { // null for what is no finite number
        const Json& value = json.at(key);
        return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
    };
    StepCounts steps;
    steps.count = json.at("count").get<std::int64_t>();
    steps.sum = number("mean") * double(steps.count);
    steps.largest = number("max");
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
    const auto number = [&](const char* key) {
        const auto it = json.find(key);
        return it != json.end() && it->is_number() ? std::optional(it->get<double>())
                                                   : std::nullopt;
    };
    departure.referenceDb = number("reference_db");
    departure.loweredDb = number("lowered_db");
    return departure;
}

} // namespace qs
