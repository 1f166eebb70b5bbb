// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_data.h"

#include "engine/base/error_scale.h"
#include "engine/export/documents/node_json.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Value, in dB, of a node that adds no error because it only moves values; above any real SQNR.
constexpr double kExactSqnr = 100;

/// Colour stops of the window's palette, from worst (0) to best (1).
Json gradient()
{
    constexpr int kStops = 4;
    Json out = Json::array();
    for (int i = 0; i < kStops; ++i) {
        const double stop = double(i) / (kStops - 1);
        const Rgb colour = cividis(1 - stop, false);
        out.push_back({{"stop", stop},
                       {"bgColor", hexColour(colour)},
                       {"textColor", hexColour(inkOn(colour))}});
    }
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
