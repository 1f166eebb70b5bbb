// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/recipe_diff.h"

#include "engine/base/common_sequence.h"
#include "engine/base/text.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/json/recipe_json.h"
#include "engine/pipeline/tune/trial_name.h"
#include "engine/runs/qconfig_words.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace qs {

namespace {

using Differences = std::vector<RecipeDifference>;

constexpr auto kEdit = "edit";
constexpr auto kCure = "cure";

/// Returns a recipe's key as words: "batch size".
std::string spaced(std::string key)
{
    std::replace(key.begin(), key.end(), '_', ' ');
    return key;
}

/// Returns the subject of a rule in words; equal for rules of the same kind and key.
std::string placeOf(const Rule& rule, const RecordedTitles& titles)
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
        text = titles.of(rule.key);
        break;
    case RuleKind::Edge:
        text = "edge " + titles.of(rule.key) + " ► " + titles.of(rule.secondKey) + ", input "
            + std::to_string(rule.index);
        break;
    }
    return rule.atConvert ? text + ", at conversion" : text;
}

std::string ruleValue(const Rule& rule)
{
    return rule.qconfig.config ? rule.qconfig.name : "float";
}

std::string needlessWord(const Recipe& recipe)
{
    return recipe.floatNeedless ? "float" : "quantized";
}

void addIfOther(Differences& out, std::string what, std::string before, std::string after)
{
    if (before != after)
        out.push_back({std::move(what), std::move(before), std::move(after)});
}

/// The two recipes and their nodes' titles.
struct Sides
{
    const Recipe& before;
    const Recipe& after;
    const RecordedTitles& titles;
};

/// The rules of one kind and key in the two recipes; null if a recipe has none.
struct RulePair
{
    const Rule* before = nullptr;
    const Rule* after = nullptr;
};

/// Describes a rule's qconfig; one defined by only one of the recipes is described by its settings,
/// not by its name.
std::string valueInWords(const Rule* rule, const Recipe& own, const Recipe& other,
                         const SharedQConfig& base)
{
    if (!rule)
        return {};
    const std::string& name = rule->qconfig.name;
    const bool isNew = own.qconfigs.contains(name) && !other.qconfigs.contains(name);
    const std::string words = isNew && rule->qconfig.config && base
        ? qconfigWords(*rule->qconfig.config, *base)
        : std::string();
    return words.empty() ? ruleValue(*rule) : words;
}

/// Returns the qconfig of nodes without a specific rule.
SharedQConfig usualQConfig(const Recipe& recipe)
{
    SharedQConfig out = findQConfig(recipe, presetOf(recipe.target()));
    for (const Rule& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Global && rule.qconfig.config)
            out = rule.qconfig.config;
    return out;
}

RecipeDifference ruleDifference(const Sides& sides, const RulePair& rules)
{
    const Rule& any = rules.after ? *rules.after : *rules.before;
    const SharedQConfig usual = usualQConfig(sides.before);
    const SharedQConfig base
        = rules.before && rules.before->qconfig.config ? rules.before->qconfig.config : usual;
    const auto fixes = [&](const Rule* rule) {
        return rule && rule->qconfig.config && base
            && fixesRangeAlone(*rule->qconfig.config, *base);
    };
    if (fixes(rules.after) && (!rules.before || fixes(rules.before)))
        return {"range of "
                    + (any.kind == RuleKind::Edge ? sides.titles.of(any.key)
                                                  : placeOf(any, sides.titles)),
                rules.before ? fixedRangeText(rules.before->qconfig.config->activation) : "",
                fixedRangeText(rules.after->qconfig.config->activation), true};
    return {placeOf(any, sides.titles),
            valueInWords(rules.before, sides.before, sides.after, usual),
            valueInWords(rules.after, sides.after, sides.before, base)};
}

/// Adds differences of rules; the last rule of a kind and key takes precedence, as in a recipe's
/// file.
void addRules(Differences& out, const Sides& sides)
{
    const RecordedTitles names; // rules are identified by their keys, not by titles
    std::vector<std::string> order;
    std::map<std::string, RulePair> pairs;
    for (const bool isAfter : {false, true})
        for (const Rule& rule : (isAfter ? sides.after : sides.before).mapping.rules) {
            const std::string key = std::to_string(int(rule.kind)) + ' ' + placeOf(rule, names);
            const auto [it, isNew] = pairs.try_emplace(key);
            if (isNew)
                order.push_back(it->first);
            (isAfter ? it->second.after : it->second.before) = &rule;
        }
    for (const std::string& name : order) {
        const RulePair& rules = pairs[name];
        if (rules.before && rules.after && ruleValue(*rules.before) == ruleValue(*rules.after))
            continue;
        RecipeDifference found = ruleDifference(sides, rules);
        // One decision on a value may be several rules, one for each consumer.
        if (std::find(out.begin(), out.end(), found) == out.end())
            out.push_back(std::move(found));
    }
}

bool isNamedByRule(const Recipe& recipe, const std::string& qconfig)
{
    return std::any_of(recipe.mapping.rules.begin(), recipe.mapping.rules.end(),
                       [&](const Rule& rule) { return rule.qconfig.name == qconfig; })
        || std::any_of(recipe.cures.begin(), recipe.cures.end(),
                       [&](const Cure& cure) { return cure.qconfig == qconfig; });
}

/// Adds qconfigs not covered by differences of rules.
void addQConfigs(Differences& out, const Sides& sides)
{
    for (const auto& [name, own] : sides.before.qconfigs) {
        const auto other = sides.after.qconfigs.find(name);
        if (other == sides.after.qconfigs.end()) {
            if (!isNamedByRule(sides.before, name))
                out.push_back({"qconfig " + name, "defined", ""});
        } else if (!(own == other->second)) {
            out.push_back({"qconfig " + name, qconfigWords(own, other->second),
                           qconfigWords(other->second, own)});
        }
    }
    for (const auto& [name, own] : sides.after.qconfigs)
        if (!sides.before.qconfigs.contains(name) && !isNamedByRule(sides.after, name))
            out.push_back({"qconfig " + name, "", "defined"});
}

/// "a, b" for a list, "pattern add, to add_relu" for an object.
std::string inWords(const Json& value)
{
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_boolean())
        return value.get<bool>() ? "yes" : "no";
    if (!value.is_structured())
        return value.is_null() ? "none" : value.dump();
    std::string text;
    for (const auto& [key, item] : value.items())
        text += (text.empty() ? "" : ", ") + (value.is_object() ? spaced(key) + ' ' : "")
            + inWords(item);
    return text.empty() ? "nothing" : text;
}

/// Adds differing leaves of two values, with their paths.
void addLeaves(Differences& out, const std::string& path, const Json* before, const Json* after)
{
    if (before && after && *before == *after)
        return;
    const bool objects = (before && before->is_object()) || (after && after->is_object());
    const bool nested
        = objects && (!before || before->is_object()) && (!after || after->is_object());
    if (!nested || !before || !after) {
        out.push_back({path, before ? inWords(*before) : "", after ? inWords(*after) : ""});
        return;
    }
    const auto at = [](const Json& owner, const std::string& key) {
        const auto it = owner.find(key);
        return it == owner.end() ? nullptr : &*it;
    };
    const auto joined = [&](const std::string& key) {
        return path.empty() ? spaced(key) : path + ' ' + spaced(key);
    };
    for (const auto& [key, value] : before->items())
        addLeaves(out, joined(key), &value, at(*after, key));
    for (const auto& [key, value] : after->items())
        if (!before->contains(key))
            addLeaves(out, joined(key), nullptr, &value);
}

/// Adds steps that only one of two lists contains; `isSame` pairs steps that are the same decision
/// with other settings.
template<class Step, class Text, class IsSame>
void addSteps(Differences& out, const char* what, const std::vector<Step>& before,
              const std::vector<Step>& after, const Text& text, const IsSame& isSame)
{
    auto pairs = commonSequence(before.size(), after.size(), [&](std::size_t i, std::size_t j) {
        return before[i] == after[j];
    });
    pairs.emplace_back(before.size(), after.size());
    std::size_t i = 0, j = 0;
    for (const auto& [toBefore, toAfter] : pairs) {
        for (; i < toBefore && j < toAfter && isSame(before[i], after[j]); ++i, ++j)
            out.push_back({what, text(before[i]), text(after[j])});
        for (; i < toBefore; ++i)
            out.push_back({what, text(before[i]), ""});
        for (; j < toAfter; ++j)
            out.push_back({what, "", text(after[j])});
        i = toBefore + 1;
        j = toAfter + 1;
    }
}

void addEdits(Differences& out, const Recipe& before, const Recipe& after)
{
    addSteps(
        out, kEdit, before.edits, after.edits, [](const EditStep& step) { return editText(step); },
        [](const EditStep&, const EditStep&) { return false; });
}

void addCures(Differences& out, const Recipe& before, const Recipe& after)
{
    addSteps(
        out, kCure, before.cures, after.cures, [](const Cure& cure) { return cureLine(cure); },
        [](const Cure& a, const Cure& b) { return a.kind == b.kind && a.at == b.at; });
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
    if (isRange && !after.empty())
        return what + ": " + after;
    if (what == kEdit || what == kCure)
        return after.empty() ? "without " + before : after;
    return what + (after.empty() ? " no longer " + before : ' ' + after);
}

std::string changeInWords(const Recipe& before, const Recipe& after, const RecordedTitles& titles)
{
    const Differences differences = diffRecipes(before, after, titles);
    if (differences.empty())
        return {};
    if (std::string trial = takenTrial(after.cures);
        !trial.empty() && trial != takenTrial(before.cures))
        return trial;
    const std::string first = differences.front().shortText();
    return differences.size() == 1
        ? first
        : first + " and " + std::to_string(differences.size() - 1) + " more";
}

std::vector<RecipeDifference> diffRecipes(const Recipe& before, const Recipe& after,
                                          const RecordedTitles& titles)
{
    Differences out;
    if (before == after)
        return out;
    addEdits(out, before, after);
    addCures(out, before, after);
    addIfOther(out, "backend", before.target(), after.target());
    addIfOther(out, "extension packs", packs(before), packs(after));
    const Sides sides {before, after, titles};
    addQConfigs(out, sides);
    addIfOther(out, "needless outputs", needlessWord(before), needlessWord(after));
    addRules(out, sides);
    const Json a = recipeAsJson(before), b = recipeAsJson(after);
    for (const char* section : {"prepare", "convert", "calibration", "limits"}) {
        Json left = a.value(section, Json::object()), right = b.value(section, Json::object());
        for (Json* side : {&left, &right})
            side->erase("qconfig_mapping"); // compared as rules
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
    if (recipe.floatNeedless)
        text += ", needless outputs float";
    if (!recipe.edits.empty())
        text += ", " + counted(std::int64_t(recipe.edits.size()), "edit");
    if (!recipe.cures.empty())
        text += ", " + counted(std::int64_t(recipe.cures.size()), "cure");
    if (const std::string trial = takenTrial(recipe.cures); !trial.empty())
        text += " (" + trial + ")";
    if (const auto rows = recipe.loweringAdd.size() + recipe.loweringRemove.size(); rows > 0)
        text += ", " + counted(std::int64_t(rows), "lowering row");
    return text;
}

} // namespace qs
