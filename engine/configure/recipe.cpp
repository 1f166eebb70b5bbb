// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/recipe.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/log.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/dumps/mapping_import.h"
#include "engine/configure/dumps/python_value.h"
#include "engine/configure/json/calibration_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/json/custom_config_json.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/json/gate_limits_json.h"
#include "engine/configure/json/recipe_json.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/mapping_reader.h"
#include "engine/configure/qconfigs/observer_json.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

Result<void> readQConfigs(const JsonPlace& place, Recipe& recipe)
{
    if (!place.value().is_object())
        return place.error("expected an object of named qconfigs");
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
        QS_CHECK(item.object(keyTable("recipe", "convert.lowering.add[0]").keys()));
        if (!item.has("pattern") || (withTarget && !item.has("to")))
            return item.error("a row is {\"pattern\": [...], \"to\": \"quantized::conv2d_relu\"}");
        LoweringRow row;
        QS_TRY(row.pattern, item.key("pattern").strings());
        if (row.pattern.empty())
            return item.key("pattern").error("the pattern is empty");
        if (item.has("to")) {
            QS_TRY(row.to, item.key("to").string());
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Result<void> readConvert(const JsonPlace& place, Recipe& recipe)
{
    QS_TRY(recipe.convert, readConvertConfig(place, recipe.prepare));
    if (place.has("lowering")) {
        const JsonPlace lowering = place.key("lowering");
        QS_CHECK(lowering.object(keyTable("recipe", "convert.lowering").keys()));
        if (lowering.has("add")) {
            QS_TRY(recipe.loweringAdd, readRows(lowering.key("add"), true));
        }
        if (lowering.has("remove")) {
            QS_TRY(recipe.loweringRemove, readRows(lowering.key("remove"), false));
        }
    }
    if (place.has("uncalibrated")) {
        QS_TRY(recipe.uncalibrated, place.key("uncalibrated").strings());
    }
    if (place.has("qconfig_mapping")) {
        QS_TRY(std::vector<Rule> rules, readConvertMapping(place.key("qconfig_mapping"), recipe));
        for (auto& rule : rules)
            recipe.mapping.rules.push_back(std::move(rule));
    }
    return {};
}

/// Replaces a dump under that dotted key by its translation; adds its qconfigs to the recipe's.
Result<void> translateDumpAt(Json& document, const std::string& where, const std::string& path)
{
    std::string pointer = "/" + where;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const Json::json_pointer at(pointer);
    if (!document.contains(at) || !isMappingDump(document.at(at)))
        return {};
    // A copy: inserting a key moves the document's values and invalidates references to them.
    Json own = document.value("qconfigs", Json());
    if (own.is_null())
        own = Json::object();
    QS_TRY(ImportedMapping dump, importMapping(JsonPlace(document.at(at), path, where), own));
    note(path + ": " + where + ": a dump of torch.ao's QConfigMapping: " + dump.summary);
    document.at(at) = std::move(dump.mapping);
    if (own.is_object())
        own.update(dump.qconfigs);
    document["qconfigs"] = std::move(own);
    return {};
}

/// Replaces a dump of torch.ao's QConfigMapping by its translation: the whole file, "mapping", or
/// "convert.qconfig_mapping". Notes a summary.
Result<void> translateDumps(Json& document, const std::string& path)
{
    if (isMappingDump(document)) {
        QS_TRY(ImportedMapping dump, importMapping(JsonPlace(document, path, ""), Json::object()));
        note(path + ": a dump of torch.ao's QConfigMapping: " + dump.summary
             + "; no backend is specified; using x86");
        document = {{"format", "quantscope.recipe"},
                    {"version", 1},
                    {"qconfigs", std::move(dump.qconfigs)},
                    {"mapping", std::move(dump.mapping)}};
        return {};
    }
    if (!document.is_object())
        return {};
    for (const std::string where : {"mapping", "convert.qconfig_mapping"})
        QS_CHECK(translateDumpAt(document, where, path));
    return {};
}

/// Turns bare rules such as {"module_name": [["head", null]]} into a recipe for the default
/// backend. Adds the default global qconfig if it is missing.
void completeRules(Json& document, const std::string& path)
{
    if (!document.is_object() || document.empty())
        return;
    const std::vector<std::string> kinds = keyTable("recipe", "mapping").keys();
    for (const auto& [key, value] : document.items())
        if (std::find(kinds.begin(), kinds.end(), key) == kinds.end())
            return;
    const Recipe usual = defaultRecipe();
    if (!document.contains("global"))
        document["global"] = usual.mapping.rules.front().qconfig.name;
    note(path + ": only rules: using backend " + usual.target() + ", and "
         + document["global"].dump() + " for operators without a rule");
    document = {{"format", "quantscope.recipe"}, {"version", 1}, {"mapping", std::move(document)}};
}

/// Returns the absolute path of a file named in a recipe, such as a backend, relative to the
/// A path that is relative to the folder of `file`.
std::string pathFrom(const std::string& name, const std::string& file)
{
    namespace fs = std::filesystem;
    std::error_code code;
    return (fs::absolute(file, code).parent_path() / name).lexically_normal().string();
}

/// recipe's folder.
std::string fileFrom(const std::string& name, const std::string& file)
{
    const std::string path = pathFrom(name, file);
    std::error_code code;
    const bool isFile = isBackendPath(name) || std::filesystem::is_regular_file(path, code);
    return isFile ? path : name;
}

/// Sets the mapping of a recipe without one: the backend's preset.
Result<void> useDefaultMapping(const JsonPlace& root, Recipe& recipe)
{
    const auto backend = findBackend(recipe.target());
    if (!backend) {
        const Error& cause = backend.error();
        return fail(makeError(cause.code, "backend: " + cause.line()).inFile(root.file()));
    }
    const std::string& preset = backend->defaultQConfig;
    if (preset.empty())
        return root.error("backend '" + recipe.target()
                              + "' names no default_qconfig, and the key 'mapping' is missing",
                          "add for example \"mapping\": {\"global\": \"x86\"}");
    Rule global;
    global.qconfig = {preset, findQConfig(recipe, preset)};
    recipe.mapping.rules.push_back(std::move(global));
    return {};
}

} // namespace

const std::string& Recipe::target() const
{
    static const std::string usual = "x86";
    return namesTarget() ? backend : usual;
}

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

namespace {

/// Translates Horizon's hybrid mode to rules that keep the entries of "hybrid_dict" float.
Result<void> takeHybrid(const JsonPlace& place, QConfigMapping& mapping)
{
    constexpr const char* kNames = "hybrid_dict";
    bool isOn = place.has(kNames);
    if (place.has("hybrid")) {
        QS_TRY(isOn, place.key("hybrid").boolean());
    }
    if (place.has(kNames)) {
        const JsonPlace names = place.key(kNames);
        QS_CHECK(names.object(keyTable("recipe", "prepare.hybrid_dict").keys()));
        for (const auto& [key, kind] : {std::pair("module_name", RuleKind::ModuleName),
                                        std::pair("module_type", RuleKind::ObjectType)}) {
            if (!names.has(key))
                continue;
            QS_TRY(const std::vector<std::string> listed, names.key(key).strings());
            for (const std::string& name : listed) {
                Rule rule;
                rule.kind = kind;
                rule.key = kind == RuleKind::ObjectType ? classNameOf(name) : name;
                if (isOn)
                    mapping.rules.push_back(std::move(rule));
            }
        }
    }
    return {};
}

/// Moves a top-level "custom_modules" into "prepare".
void moveCustomModules(Json& document)
{
    constexpr const char* kKey = "custom_modules";
    if (!document.is_object() || !document.contains(kKey))
        return;
    Json prepare = document.value("prepare", Json());
    if (!prepare.is_null() && (!prepare.is_object() || prepare.contains(kKey)))
        return; // the block's reader reports the error
    prepare[kKey] = document.at(kKey);
    document["prepare"] = std::move(prepare);
    document.erase(kKey);
}

} // namespace

Result<Recipe> parseRecipe(const std::string& json, const std::string& path)
{
    QS_TRY(Json document, parseJson(withoutComments(json), path));
    return recipeFromJson(std::move(document), path);
}

Result<Recipe> recipeFromJson(Json document, const std::string& path)
{
    QS_CHECK(translateDumps(document, path));
    completeRules(document, path);
    moveCustomModules(document);
    const JsonPlace root(document, path, "");
    QS_CHECK(checkFormat(root, "quantscope.recipe", 1));
    QS_CHECK(checkKeys(root, keyTable("recipe", "").keys()));
    Recipe recipe;
    if (root.has("backend")) {
        QS_TRY(recipe.backend, root.key("backend").string());
        if (recipe.backend.empty())
            return root.key("backend").error("the name is empty",
                                             suggestName("", shippedBackends()));
        recipe.backend = fileFrom(recipe.backend, path);
    }
    if (root.has("extensions")) {
        QS_TRY(recipe.extensions, root.key("extensions").strings());
    }
    if (root.has("qconfigs"))
        QS_CHECK(readQConfigs(root.key("qconfigs"), recipe));
    if (root.has("mapping")) {
        QS_TRY(recipe.mapping.rules, readMapping(root.key("mapping"), recipe));
    } else {
        QS_CHECK(useDefaultMapping(root, recipe));
    }
    if (root.has("needless_outputs")) {
        QS_TRY(recipe.floatNeedless, readFloatWord(root.key("needless_outputs")));
    }
    if (root.has("prepare")) {
        QS_TRY(recipe.prepare, readPrepareConfig(root.key("prepare")));
        QS_CHECK(takeHybrid(root.key("prepare"), recipe.mapping));
    }
    const Json nothing = Json::object();
    QS_CHECK(readConvert(
        root.has("convert") ? root.key("convert") : JsonPlace(nothing, path, "convert"), recipe));
    if (root.has("calibration")) {
        QS_TRY(recipe.calibration, readCalibration(root.key("calibration")));
    }
    if (root.has("edits")) {
        QS_TRY(recipe.edits, readEdits(root.key("edits")));
        for (EditStep& step : recipe.edits)
            if (!step.file.empty())
                step.file = fileFrom(step.file, path);
    }
    if (root.has("cures")) {
        QS_TRY(recipe.cures, readCures(root.key("cures")));
        if (std::count_if(recipe.cures.begin(), recipe.cures.end(),
                          [](const Cure& cure) { return cure.kind == CureKind::Train; })
            > 1)
            return root.key("cures").error("more than one cure 'train'",
                                           "keep the last one: it holds what the others trained");
        for (Cure& cure : recipe.cures)
            if (!cure.file.empty())
                cure.file = pathFrom(cure.file, path);
    }
    if (root.has("limits")) {
        QS_TRY(recipe.limits, readLimits(root.key("limits")));
    }
    return recipe;
}

Result<Recipe> readRecipe(const std::string& path)
{
    QS_TRY(const std::string text, readTextFile(path));
    return parseRecipe(text, path);
}

Recipe writtenBeside(Recipe recipe, const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code code;
    const fs::path folder = fs::absolute(path, code).parent_path();
    const auto beside = [&](std::string& name) {
        const fs::path relative = fs::absolute(name, code).lexically_relative(folder);
        if (!relative.empty() && *relative.begin() != "..")
            name = relative.generic_string();
    };
    if (isBackendPath(recipe.backend))
        beside(recipe.backend);
    for (EditStep& step : recipe.edits)
        if (!step.file.empty())
            beside(step.file);
    for (Cure& cure : recipe.cures)
        if (!cure.file.empty())
            beside(cure.file);
    return recipe;
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
