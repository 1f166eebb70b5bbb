// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/gate_limits_json.h"

#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/keys/key_table.h"

#include <cmath>

namespace qs {

namespace {

Result<double> readLimit(const JsonPlace& place)
{
    QS_TRY(const double value, place.number());
    if (!std::isfinite(value))
        return place.error("a limit is a finite number");
    return value;
}

Result<std::vector<GateLimits::Node>> readNodes(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("nodes are an object", "for example {\"head\": 35}");
    std::vector<GateLimits::Node> nodes;
    for (const auto& [name, value] : place.value().items()) {
        if (name.empty())
            return place.error("a limit has an empty node name", "name a node or a module");
        QS_TRY(const double least, place.key(name).number());
        nodes.push_back({name, least});
    }
    return nodes;
}

Json nodesToJson(const std::vector<GateLimits::Node>& nodes)
{
    Json out;
    for (const GateLimits::Node& node : nodes)
        out[node.name] = node.minSqnrDb;
    return out;
}

constexpr std::array kLimitFields {jsonField<&GateLimits::minSqnrDb, readLimit>("min_sqnr"),
                                   jsonField<&GateLimits::minCosine, readLimit>("min_cosine"),
                                   jsonField<&GateLimits::maxDrop, readLimit>("max_drop"),
                                   jsonField<&GateLimits::minCoverage, readLimit>("min_coverage"),
                                   jsonField<&GateLimits::nodes, readNodes, nodesToJson>("nodes")};

} // namespace

Result<GateLimits> readLimits(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "limits").keys()));
    QS_TRY(GateLimits limits, readFields(place, kLimitFields));
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
    writeFields(json, kLimitFields, limits);
    return json;
}

} // namespace qs
