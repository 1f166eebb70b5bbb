// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_data.h"

#include "engine/export/documents/node_json.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// More than any arithmetic leaves: the node only moves values.
constexpr double kExactSqnr = 100;

/// Stops of the cividis palette from worst (0) to best (1).
Json gradient()
{
    static const char* const colours[] = {"#fee838", "#a59c74", "#575c6d", "#00224e"};
    Json out = Json::array();
    for (std::size_t i = 0; i < std::size(colours); ++i)
        out.push_back({{"stop", double(i) / double(std::size(colours) - 1)},
                       {"bgColor", colours[i]},
                       {"textColor", i < 2 ? "#000000" : "#ffffff"}});
    return out;
}

} // namespace

std::string nodeDataJson(const Graph& model, const Comparison& comparison)
{
    Json results = Json::object();
    for (const NodeError& error : comparison.nodes) {
        const Node* node = model.tryGet(error.node);
        if (!node || !error.bornHere || !error.bornHere->sqnrDb
            || std::isnan(*error.bornHere->sqnrDb))
            continue;
        results[node->name] = {{"value", std::min(*error.bornHere->sqnrDb, kExactSqnr)}};
    }
    return Json {{"name", "SQNR born here (dB)"}, {"results", results}, {"gradient", gradient()}}
               .dump(2)
        + "\n";
}

} // namespace qs
