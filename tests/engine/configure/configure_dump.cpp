// SPDX-License-Identifier: Apache-2.0
// configure_dump presets | mapping NAME | backend NAME: what this program knows, as JSON on stdout.
#include "engine/configure/backend_config.h"
#include "engine/configure/observer_json.h"
#include "engine/configure/recipe.h"

#include <iostream>

using namespace qs;

namespace {

Json fullObserver(const ObserverSpec& spec)
{
    const QuantRange range = quantRange(spec);
    Json out {{"observer", observerKindName(spec.kind)},
              {"dtype", dtypeName(spec.dtype)},
              {"qscheme", qschemeName(spec.qscheme)},
              {"range", {range.min, range.max}},
              {"eps", spec.eps},
              {"reduce_range", spec.reduceRange},
              {"is_dynamic", spec.isDynamic},
              {"ch_axis", spec.chAxis},
              {"averaging_constant", spec.averagingConstant},
              {"bins", spec.bins},
              {"scale", spec.scale},
              {"zero_point", spec.zeroPoint}};
    out["quant_min"] = spec.quantMin ? Json(*spec.quantMin) : Json();
    out["quant_max"] = spec.quantMax ? Json(*spec.quantMax) : Json();
    return out;
}

Json fullQConfig(const QConfig& qconfig)
{
    return {{"activation", fullObserver(qconfig.activation)},
            {"weight", fullObserver(qconfig.weight)}};
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    Json out;
    if (what == "presets") {
        for (const auto& name : presetNames())
            out[name] = fullQConfig(*presetQConfig(name));
    } else if (what == "mapping" && argc > 2) {
        const auto mapping = QConfigMapping::defaultFor(argv[2]);
        for (const auto& rule : mapping->rules)
            out.push_back(Json {{"kind", ruleKindName(rule.kind)},
                                {"key", rule.key},
                                {"qconfig", fullQConfig(*rule.qconfig.config)}});
    } else if (what == "backend" && argc > 2) {
        const auto backend = findBackend(argv[2]);
        if (!backend) {
            std::cerr << backend.error().line() << "\n";
            return 1;
        }
        out = Json::parse(backendToJson(*backend));
    } else {
        return 2;
    }
    std::cout << out.dump(1) << "\n";
    return 0;
}
