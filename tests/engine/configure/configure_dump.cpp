// SPDX-License-Identifier: Apache-2.0
// configure_dump presets | mapping NAME | mappings | backend NAME | observers < LIST: what this
// program knows, as JSON on stdout. "observers" reads a list of observers as a recipe has them; the
// answer has one entry each.
#include "engine/configure/backend_config.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/configure/recipe.h"

#include <iostream>

using namespace qs;

namespace {

Json fullObserver(const ObserverSpec& spec)
{
    const QuantRange range = quantRange(spec);
    Json out {{"observer", observerKindName(spec.kind)},
              {"fake_quantize", fakeQuantizeName(spec.fakeQuantize)},
              {"custom_op_name", spec.customOpName},
              {"dtype", dtypeName(spec.dtype)},
              {"qscheme", qschemeName(spec.qscheme)},
              {"range", {range.min, range.max}},
              {"eps", spec.eps},
              {"reduce_range", spec.reduceRange},
              {"is_dynamic", spec.isDynamic},
              {"ch_axis", spec.chAxis},
              {"group_size", spec.groupSize},
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

Json ruleJson(const Rule& rule)
{
    return {{"kind", ruleKindName(rule.kind)},
            {"key", rule.key},
            {"second", rule.secondKey},
            {"index", rule.index},
            {"at_convert", rule.atConvert},
            {"name", rule.qconfig.name},
            {"qconfig", rule.qconfig.config ? fullQConfig(*rule.qconfig.config) : Json()}};
}

/// The recipe as this program writes it, and the rules in effect.
Json recipeJson(const Recipe& recipe)
{
    Json rules = Json::array();
    for (const Rule& rule : effectiveMapping(recipe).rules)
        rules.push_back(ruleJson(rule));
    return {{"recipe", Json::parse(recipeToJson(recipe))}, {"rules", std::move(rules)}};
}

/// Each observer read, written and read again: the same, or the error.
Json readObservers()
{
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    const Json list = Json::parse(text);
    Json out = Json::array();
    for (const Json& item : list) {
        const auto spec = readObserver(JsonPlace(item, "stdin", "observer"));
        if (!spec) {
            out.push_back({{"error", spec.error().line()}});
            continue;
        }
        const Json written = observerToJson(*spec);
        const auto again = readObserver(JsonPlace(written, "stdin", "again"));
        Json entry = fullObserver(*spec);
        entry["round_trip"] = again && *again == *spec;
        entry["compute_dtype"] = spec->computeDType ? Json(dtypeName(*spec->computeDType)) : Json();
        out.push_back(std::move(entry));
    }
    return out;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    Json out;
    if (what == "presets") {
        for (const auto& name : presetNames())
            out[name] = fullQConfig(*presetQConfig(name));
    } else if (what == "observers") {
        out = readObservers();
    } else if (what == "recipe" && argc > 2) {
        const auto recipe = readRecipe(argv[2]);
        if (!recipe) {
            std::cerr << recipe.error().line() << "\n";
            return 1;
        }
        out = recipeJson(*recipe);
    } else if (what == "mappings") {
        out = QConfigMapping::defaultNames();
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
