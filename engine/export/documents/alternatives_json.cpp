// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_json.h"

namespace qs {

Json alternativesJson(const std::vector<Alternative>& alternatives)
{
    Json list = Json::array();
    for (const Alternative& one : alternatives) {
        const QParams& qparams = one.qparams;
        Json scales = Json::array();
        for (const float scale : qparams.scale)
            scales.push_back(numberJson(scale));
        list.push_back({{"name", one.name},
                        {"dtype", dtypeName(one.spec.dtype)},
                        {"qscheme", qschemeName(one.spec.qscheme)},
                        {"quant_min", qparams.scale.empty() ? Json() : Json(qparams.quantMin)},
                        {"quant_max", qparams.scale.empty() ? Json() : Json(qparams.quantMax)},
                        {"scale", std::move(scales)},
                        {"zero_point", qparams.zeroPoint},
                        {"sqnr_db", numberJson(one.sqnrDb)},
                        {"current", one.current},
                        {"exact_parameters", one.exactParameters},
                        {"exact_error", one.exactError}});
    }
    return list;
}

} // namespace qs
