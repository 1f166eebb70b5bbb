// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/gate_limits_json.h"

#include "engine/base/json/nearest_name.h"
#include "engine/configure/keys/key_table.h"

#include <cmath>

namespace qs {

namespace {

Result<void> readNumber(const JsonPlace& place, const char* key, std::optional<double>& into)
{
    if (!place.has(key))
        return {};
    QS_TRY(const double value, place.key(key).number());
    if (!std::isfinite(value))
        return place.key(key).error("a limit is a finite number");
    into = value;
    return {};
}

} // namespace

Result<GateLimits> readLimits(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "limits").keys()));
    GateLimits limits;
    QS_CHECK(readNumber(place, "min_sqnr", limits.minSqnrDb));
    QS_CHECK(readNumber(place, "min_cosine", limits.minCosine));
    QS_CHECK(readNumber(place, "max_drop", limits.maxDrop));
    QS_CHECK(readNumber(place, "min_coverage", limits.minCoverage));
    if (place.has("nodes")) {
        const JsonPlace nodes = place.key("nodes");
        if (!nodes.value().is_object())
            return nodes.error("nodes are an object", "for example {\"head\": 35}");
        for (const auto& [name, value] : nodes.value().items()) {
            if (name.empty())
                return nodes.error("a limit is of no node", "name a node or a module");
            QS_TRY(const double least, nodes.key(name).number());
            limits.nodes.push_back({name, least});
        }
    }
    if (!place.has("preset"))
        return limits;
    QS_TRY(const std::string name, place.key("preset").string());
    const auto preset = gatePreset(name);
    if (!preset)
        return place.key("preset").error("there is no preset '" + name + "'",
                                         suggestName(name, gatePresetNames()));
    return withLimits(std::move(limits), *preset);
}

Json limitsToJson(const GateLimits& limits)
{
    Json json = Json::object();
    const auto add = [&json](const char* key, const std::optional<double>& value) {
        if (value)
            json[key] = *value;
    };
    add("min_sqnr", limits.minSqnrDb);
    add("min_cosine", limits.minCosine);
    add("max_drop", limits.maxDrop);
    add("min_coverage", limits.minCoverage);
    for (const GateLimits::Node& node : limits.nodes)
        json["nodes"][node.name] = node.minSqnrDb;
    return json;
}

} // namespace qs
