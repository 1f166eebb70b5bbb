// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/recipe.h"

#include "engine/configure/backend_config.h"
#include "engine/configure/nearest_name.h"
#include "engine/configure/observer_json.h"

#include <regex>

namespace qs {

namespace {

const std::vector<std::string> kPrepareKeys {"standalone_module_name",
                                             "standalone_module_class",
                                             "float_to_observed_custom_module_class",
                                             "non_traceable_module_name",
                                             "non_traceable_module_class",
                                             "input_quantized_idxs",
                                             "output_quantized_idxs",
                                             "preserved_attributes",
                                             "unfuse"};
const std::vector<std::string> kConvertKeys {"observed_to_quantized_custom_module_class",
                                             "preserved_attributes", "lowering"};

/// Reads the `mapping` block of one recipe, whose own qconfigs are known by now.
class MappingReader
{
public:
    explicit MappingReader(Recipe& recipe)
        : m_recipe(recipe)
    {
    }

    Result<void> read(const JsonPlace& place)
    {
        QS_CHECK(place.object({"global", "object_type", "module_name_regex", "module_name",
                               "module_name_object_type_order", "node", "edge"}));
        if (place.has("global")) {
            Rule rule;
            QS_TRY(rule.qconfig, qconfig(place.key("global")));
            m_recipe.mapping.rules.push_back(std::move(rule));
        }
        QS_CHECK(readList(place, RuleKind::ObjectType, "[type, qconfig]"));
        QS_CHECK(readList(place, RuleKind::ModuleNameRegex, "[regex, qconfig]"));
        QS_CHECK(readList(place, RuleKind::ModuleName, "[module, qconfig]"));
        QS_CHECK(
            readList(place, RuleKind::ModuleNameObjectTypeOrder, "[module, type, index, qconfig]"));
        QS_CHECK(readList(place, RuleKind::Node, "[node, qconfig]"));
        return readList(place, RuleKind::Edge, "[producer, consumer, input_index, qconfig]");
    }

    Result<NamedQConfig> qconfig(const JsonPlace& place) const
    {
        NamedQConfig out;
        if (place.value().is_null())
            return out;
        QS_TRY(out.name, place.string());
        out.config = findQConfig(m_recipe, out.name);
        if (out.config)
            return out;
        std::vector<std::string> known = presetNames();
        for (const auto& [name, config] : m_recipe.qconfigs)
            known.insert(known.begin(), name);
        return place.error("unknown qconfig '" + out.name + "'",
                           suggestName(out.name, known) + " (null keeps float)");
    }

private:
    Result<void> readList(const JsonPlace& mapping, RuleKind kind, const std::string& shape)
    {
        const std::string key(ruleKindName(kind));
        if (!mapping.has(key.c_str()))
            return {};
        const JsonPlace list = mapping.key(key);
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(Rule rule, readRule(list.item(i), kind, shape));
            m_recipe.mapping.rules.push_back(std::move(rule));
        }
        return {};
    }

    Result<Rule> readRule(const JsonPlace& place, RuleKind kind, const std::string& shape)
    {
        const bool four = kind == RuleKind::ModuleNameObjectTypeOrder || kind == RuleKind::Edge;
        const std::size_t size = four ? 4 : 2;
        if (!place.value().is_array() || place.value().size() != size)
            return place.error("a rule is a list " + shape);
        Rule rule;
        rule.kind = kind;
        QS_TRY(rule.key, place.item(0).string());
        if (four) {
            QS_TRY(rule.secondKey, place.item(1).string());
            QS_TRY(const std::int64_t index, place.item(2).integer());
            if (index < 0 || index > 1000000)
                return place.item(2).error("an index counts from 0");
            rule.index = int(index);
        }
        QS_TRY(rule.qconfig, qconfig(place.item(size - 1)));
        if (kind == RuleKind::ModuleNameRegex)
            try {
                const std::regex compiled(rule.key, std::regex::ECMAScript);
            } catch (const std::regex_error&) {
                return place.item(0).error("'" + rule.key + "' is not a regular expression");
            }
        return rule;
    }

    Recipe& m_recipe;
};

Result<void> readQConfigs(const JsonPlace& place, Recipe& recipe)
{
    if (!place.value().is_object())
        return place.error("an object of named qconfigs is wanted");
    for (const auto& [name, value] : place.value().items()) {
        if (name.empty())
            return place.error("a qconfig needs a name");
        QS_TRY(recipe.qconfigs[name], readQConfig(place.key(name)));
    }
    return {};
}

Result<std::vector<LoweringRow>> readRows(const JsonPlace& place, bool withTarget)
{
    QS_CHECK(place.array());
    std::vector<LoweringRow> rows;
    for (std::size_t i = 0; i < place.value().size(); ++i) {
        const JsonPlace item = place.item(i);
        QS_CHECK(item.object({"pattern", "to"}));
        if (!item.has("pattern") || (withTarget && !item.has("to")))
            return item.error("a row is {\"pattern\": [...], \"to\": \"quantized::conv2d_relu\"}");
        LoweringRow row;
        const JsonPlace pattern = item.key("pattern");
        QS_CHECK(pattern.array());
        for (std::size_t j = 0; j < pattern.value().size(); ++j) {
            QS_TRY(std::string name, pattern.item(j).string());
            row.pattern.push_back(std::move(name));
        }
        if (row.pattern.empty())
            return pattern.error("the pattern is empty");
        if (item.has("to")) {
            QS_TRY(row.to, item.key("to").string());
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Result<void> readConvert(const JsonPlace& place, Recipe& recipe)
{
    QS_CHECK(place.object(kConvertKeys));
    if (place.has("lowering")) {
        const JsonPlace lowering = place.key("lowering");
        QS_CHECK(lowering.object({"add", "remove"}));
        if (lowering.has("add")) {
            QS_TRY(recipe.loweringAdd, readRows(lowering.key("add"), true));
        }
        if (lowering.has("remove")) {
            QS_TRY(recipe.loweringRemove, readRows(lowering.key("remove"), false));
        }
    }
    Json rest = place.value();
    rest.erase("lowering");
    recipe.convertJson = rest.dump();
    return {};
}

Result<void> readCalibration(const JsonPlace& place, CalibrationSettings& settings)
{
    QS_CHECK(place.object({"batch_size", "batches"}));
    const std::pair<const char*, int*> numbers[] {{"batch_size", &settings.batchSize},
                                                  {"batches", &settings.batches}};
    for (const auto& [key, target] : numbers)
        if (place.has(key)) {
            QS_TRY(const std::int64_t value, place.key(key).integer());
            const std::int64_t least = target == &settings.batchSize ? 1 : 0;
            if (value < least || value > 1000000000)
                return place.key(key).error("must be at least " + std::to_string(least));
            *target = int(value);
        }
    return {};
}

Result<void> useDefaultMapping(const JsonPlace& root, Recipe& recipe)
{
    if (!QConfigMapping::defaultFor(recipe.backend))
        return root.error(
            "backend '" + recipe.backend
                + "' has no default qconfig mapping, and the key 'mapping' is missing",
            "add for example \"mapping\": {\"global\": \"x86\"}");
    Rule global;
    global.qconfig = {recipe.backend, findQConfig(recipe, recipe.backend)};
    recipe.mapping.rules.push_back(std::move(global));
    return {};
}

} // namespace

Recipe defaultRecipe()
{
    Recipe recipe;
    Rule global;
    global.qconfig = {"x86", presetQConfig("x86")};
    recipe.mapping.rules.push_back(std::move(global));
    return recipe;
}

std::optional<QConfig> findQConfig(const Recipe& recipe, std::string_view name)
{
    const auto own = recipe.qconfigs.find(std::string(name));
    return own != recipe.qconfigs.end() ? own->second : presetQConfig(name);
}

Result<Recipe> parseRecipe(const std::string& json, const std::string& path)
{
    QS_TRY(const Json document, parseJson(json, path));
    const JsonPlace root(document, path, "");
    QS_CHECK(checkFormat(root, "quantscope.recipe", 1));
    QS_CHECK(root.object({"format", "version", "backend", "qconfigs", "mapping", "prepare",
                          "convert", "calibration"}));
    Recipe recipe;
    if (root.has("backend")) {
        QS_TRY(recipe.backend, root.key("backend").string());
        if (recipe.backend.empty())
            return root.key("backend").error("the name is empty",
                                             suggestName("", shippedBackends()));
    }
    if (root.has("qconfigs"))
        QS_CHECK(readQConfigs(root.key("qconfigs"), recipe));
    if (root.has("mapping"))
        QS_CHECK(MappingReader(recipe).read(root.key("mapping")));
    else
        QS_CHECK(useDefaultMapping(root, recipe));
    if (root.has("prepare")) {
        QS_CHECK(root.key("prepare").object(kPrepareKeys));
        recipe.prepareJson = root.key("prepare").value().dump();
    }
    if (root.has("convert"))
        QS_CHECK(readConvert(root.key("convert"), recipe));
    if (root.has("calibration"))
        QS_CHECK(readCalibration(root.key("calibration"), recipe.calibration));
    return recipe;
}

Result<Recipe> readRecipe(const std::string& path)
{
    QS_TRY(const std::string text, readTextFile(path));
    return parseRecipe(text, path);
}

QConfigMapping effectiveMapping(const Recipe& recipe)
{
    QConfigMapping mapping;
    for (const auto& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Global && rule.qconfig.config
            && !recipe.qconfigs.count(rule.qconfig.name))
            if (auto defaults = QConfigMapping::defaultFor(rule.qconfig.name))
                for (auto& own : defaults->rules)
                    if (own.kind != RuleKind::Global)
                        mapping.rules.push_back(std::move(own));
    mapping.rules.insert(mapping.rules.end(), recipe.mapping.rules.begin(),
                         recipe.mapping.rules.end());
    return mapping;
}

} // namespace qs
