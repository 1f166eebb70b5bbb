// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/calibration_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/json/custom_config_json.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/json/gate_limits_json.h"
#include "engine/configure/json/recipe_json.h"
#include "engine/configure/qconfigs/observer_json.h"

#include <array>

namespace qs {

namespace {

Json qconfigName(const NamedQConfig& qconfig)
{
    return qconfig.config ? Json(qconfig.name) : Json();
}

Json ruleToJson(const Rule& rule)
{
    if (rule.kind == RuleKind::ModuleNameObjectTypeOrder || rule.kind == RuleKind::Edge)
        return Json::array({rule.key, rule.secondKey, rule.index, qconfigName(rule.qconfig)});
    return Json::array({rule.key, qconfigName(rule.qconfig)});
}

constexpr std::array kListKinds {RuleKind::ObjectType, RuleKind::ModuleNameRegex,
                                 RuleKind::ModuleName, RuleKind::ModuleNameObjectTypeOrder,
                                 RuleKind::Node,       RuleKind::Edge};

Json mappingToJson(const QConfigMapping& mapping)
{
    Json out = Json::object();
    for (const auto& rule : mapping.rules)
        if (rule.kind == RuleKind::Global)
            out["global"] = qconfigName(rule.qconfig);
    for (const RuleKind kind : kListKinds) {
        Json& list = out[std::string(ruleKindName(kind))];
        list = Json::array();
        for (const auto& rule : mapping.rules)
            if (rule.kind == kind && !rule.fromBackend && !rule.atConvert)
                list.push_back(ruleToJson(rule));
    }
    return out;
}

/// Writes the nulls of convert.qconfig_mapping; an empty object without nulls.
Json convertRulesToJson(const QConfigMapping& mapping)
{
    Json out = Json::object();
    for (const RuleKind kind : kListKinds)
        for (const auto& rule : mapping.rules)
            if (rule.kind == kind && rule.atConvert)
                out[std::string(ruleKindName(kind))].push_back(ruleToJson(rule));
    return out;
}

Json rowsToJson(const std::vector<LoweringRow>& rows)
{
    Json out = Json::array();
    for (const auto& row : rows) {
        Json item {{"pattern", row.pattern}};
        if (!row.to.empty())
            item["to"] = row.to;
        out.push_back(std::move(item));
    }
    return out;
}

} // namespace

std::string recipeToJson(const Recipe& recipe)
{
    return recipeAsJson(recipe).dump(2) + "\n";
}

Json recipeAsJson(const Recipe& recipe)
{
    Json out {{"format", "quantscope.recipe"}, {"version", 1}};
    if (recipe.namesTarget())
        out["backend"] = recipe.backend;
    if (!recipe.extensions.empty())
        out["extensions"] = recipe.extensions;
    out["qconfigs"] = Json::object();
    for (const auto& [name, qconfig] : recipe.qconfigs)
        out["qconfigs"][name] = qconfigToJson(qconfig);
    out["mapping"] = mappingToJson(recipe.mapping);
    if (recipe.floatNeedless)
        out["needless_outputs"] = kFloatWord;
    out["prepare"] = prepareToJson(recipe.prepare);
    out["convert"] = convertToJson(recipe.convert);
    if (Json late = convertRulesToJson(recipe.mapping); !late.empty())
        out["convert"]["qconfig_mapping"] = std::move(late);
    out["convert"]["lowering"]
        = {{"add", rowsToJson(recipe.loweringAdd)}, {"remove", rowsToJson(recipe.loweringRemove)}};
    if (!recipe.uncalibrated.empty())
        out["convert"]["uncalibrated"] = recipe.uncalibrated;
    out["calibration"] = calibrationToJson(recipe.calibration);
    if (!recipe.edits.empty())
        out["edits"] = editsToJson(recipe.edits);
    if (!recipe.cures.empty())
        out["cures"] = curesToJson(recipe.cures);
    if (!recipe.limits.isEmpty())
        out["limits"] = limitsToJson(recipe.limits);
    return out;
}

} // namespace qs
