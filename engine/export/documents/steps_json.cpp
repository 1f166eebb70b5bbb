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

} // namespace qs
