// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/convergence/convergence.h"
#include "engine/export/documents/node_json.h"

namespace qs {

namespace {

Json historyJson(const RangeHistory& history)
{
    Json json {{"key", "obs_" + std::to_string(history.id.value())}, {"node", history.name}};
    Json batches = Json::array(), low = Json::array(), high = Json::array();
    for (const RangeAfter& range : history.ranges) {
        batches.push_back(range.batches);
        low.push_back(numberJson(range.low));
        high.push_back(numberJson(range.high));
    }
    json["batches"] = std::move(batches);
    json["low"] = std::move(low);
    json["high"] = std::move(high);
    return json;
}

} // namespace

Json convergenceJson(const ResultParts& parts)
{
    if (!parts.observations)
        return nullptr;
    const Convergence convergence = convergenceOf(*parts.observations, *parts.model, *parts.plan);
    if (convergence.observers.empty())
        return nullptr;
    Json json {{"batches", convergence.batches}};
    const auto hint = convergenceHint(convergence);
    json["hint"] = hint ? Json(hintText(*hint)) : Json(nullptr);
    if (hint) {
        json["since"] = hint->since;
        json["ranges"] = hint->ranges;
        json["settled"] = hint->settled;
        json["is_settled"] = hint->isSettled;
        json["worst"] = Json::array();
        for (const ConvergenceHint::Moving& one : hint->worst)
            json["worst"].push_back({{"node", one.name}, {"change", numberJson(one.change)}});
    }
    json["observers"] = Json::array();
    for (const RangeHistory& one : convergence.observers)
        json["observers"].push_back(historyJson(one));
    return json;
}

} // namespace qs
