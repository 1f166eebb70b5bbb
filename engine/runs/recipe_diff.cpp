// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/recipe_diff.h"

#include "engine/base/common_sequence.h"
#include "engine/base/text.h"
#include "engine/configure/json/json_reader.h"

#include <filesystem>
#include <map>

namespace qs {

namespace {

using Differences = std::vector<RecipeDifference>;

constexpr auto kEdit = "edit";

std::string ruleName(const Rule& rule)
{
    std::string text;
    switch (rule.kind) {
    case RuleKind::Global:
    case RuleKind::None:
        text = "global";
        break;
    case RuleKind::ObjectType:
        text = "type " + rule.key;
        break;
    case RuleKind::ModuleNameRegex:
        text = "modules matching " + rule.key;
        break;
    case RuleKind::ModuleName:
        text = rule.key.empty() ? "the whole model" : rule.key;
        break;
    case RuleKind::ModuleNameObjectTypeOrder:
        text = "call " + std::to_string(rule.index + 1) + " of " + rule.secondKey + " in "
            + (rule.key.empty() ? "the model" : rule.key);
        break;
    case RuleKind::Node:
        text = "node " + rule.key;
        break;
    case RuleKind::Edge:
        text
            = "edge " + rule.key + " ► " + rule.secondKey + ", input " + std::to_string(rule.index);
        break;
    }
    return rule.atConvert ? text + ", at conversion" : text;
}

std::string ruleValue(const Rule& rule)
{
    return rule.qconfig.config ? rule.qconfig.name : "float";
}

void addIfOther(Differences& out, std::string what, std::string before, std::string after)
{
    if (before != after)
        out.push_back({std::move(what), std::move(before), std::move(after)});
}

/// The last rule of a kind and key decides, as in a recipe's file.
void addRules(Differences& out, const QConfigMapping& before, const QConfigMapping& after)
{
    std::vector<std::string> order;
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto* mapping : {&before, &after})
        for (const Rule& rule : mapping->rules) {
            const auto [it, isNew] = values.try_emplace(ruleName(rule));
            if (isNew)
                order.push_back(it->first);
            (mapping == &before ? it->second.first : it->second.second) = ruleValue(rule);
        }
    for (const std::string& name : order)
        addIfOther(out, name, values[name].first, values[name].second);
}

std::string plain(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Leaves of two values that differ, each by its path.
void addLeaves(Differences& out, const std::string& path, const Json* before, const Json* after)
{
    if (before && after && *before == *after)
        return;
    const bool objects = (before && before->is_object()) || (after && after->is_object());
    const bool nested
        = objects && (!before || before->is_object()) && (!after || after->is_object());
    // A qconfig that is new is one decision, not twenty.
    if (!nested || !before || !after) {
        out.push_back({path, before ? plain(*before) : "", after ? plain(*after) : ""});
        return;
    }
    const auto at = [](const Json& owner, const std::string& key) {
        const auto it = owner.find(key);
        return it == owner.end() ? nullptr : &*it;
    };
    const auto joined
        = [&](const std::string& key) { return path.empty() ? key : path + '.' + key; };
    for (const auto& [key, value] : before->items())
        addLeaves(out, joined(key), &value, at(*after, key));
    for (const auto& [key, value] : after->items())
        if (!before->contains(key))
            addLeaves(out, joined(key), nullptr, &value);
}

void addEdits(Differences& out, const std::vector<EditStep>& before,
              const std::vector<EditStep>& after)
{
    auto pairs = commonSequence(before.size(), after.size(), [&](std::size_t i, std::size_t j) {
        return before[i] == after[j];
    });
    pairs.emplace_back(before.size(), after.size());
    std::size_t i = 0, j = 0;
    for (const auto& [toBefore, toAfter] : pairs) {
        for (; i < toBefore; ++i)
            out.push_back({kEdit, editText(before[i]), ""});
        for (; j < toAfter; ++j)
            out.push_back({kEdit, "", editText(after[j])});
        i = toBefore + 1;
        j = toAfter + 1;
    }
}

std::string packs(const Recipe& recipe)
{
    std::string text;
    for (const std::string& name : recipe.extensions)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

} // namespace

std::string RecipeDifference::text() const
{
    if (before.empty() || after.empty())
        return what + ": " + (before.empty() ? "now " + after : "no longer " + before);
    return what + ": " + before + " ► " + after;
}

std::string RecipeDifference::shortText() const
{
    if (what == kEdit)
        return after.empty() ? "without " + before : after;
    return what + (after.empty() ? " no longer " + before : ' ' + after);
}

std::string changeInWords(const Recipe& before, const Recipe& after)
{
    const Differences differences = diffRecipes(before, after);
    if (differences.empty())
        return {};
    const std::string first = differences.front().shortText();
    return differences.size() == 1
        ? first
        : first + " and " + std::to_string(differences.size() - 1) + " more";
}

std::vector<RecipeDifference> diffRecipes(const Recipe& before, const Recipe& after)
{
    Differences out;
    if (before == after)
        return out;
    addEdits(out, before.edits, after.edits);
    addIfOther(out, "backend", before.target(), after.target());
    addIfOther(out, "extension packs", packs(before), packs(after));
    const Json a = Json::parse(recipeToJson(before)), b = Json::parse(recipeToJson(after));
    for (const char* section :
         {"qconfigs", "rules", "prepare", "convert", "calibration", "limits"}) {
        if (std::string_view(section) == "rules") {
            addRules(out, before.mapping, after.mapping);
            continue;
        }
        Json left = a.value(section, Json::object()), right = b.value(section, Json::object());
        for (Json* side : {&left, &right})
            side->erase("qconfig_mapping"); // among the rules
        const bool isOwn = std::string_view(section) == "calibration";
        addLeaves(out, isOwn ? "" : section, &left, &right);
    }
    if (out.empty())
        out.push_back({"rules", "in one order", "in another"});
    return out;
}

std::string recipeInWords(const Recipe& recipe)
{
    std::string text = std::filesystem::path(recipe.target()).stem().string();
    std::int64_t rules = 0;
    for (const Rule& rule : recipe.mapping.rules) {
        if (rule.kind != RuleKind::Global)
            ++rules;
        else if (ruleValue(rule) != recipe.target())
            text += ", global " + ruleValue(rule);
    }
    if (rules > 0)
        text += ", " + counted(rules, "rule");
    if (!recipe.edits.empty())
        text += ", " + counted(std::int64_t(recipe.edits.size()), "edit");
    if (const auto rows = recipe.loweringAdd.size() + recipe.loweringRemove.size(); rows > 0)
        text += ", " + counted(std::int64_t(rows), "lowering row");
    return text;
}

} // namespace qs
