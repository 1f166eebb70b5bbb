// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/mapping_reader.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/pattern.h"
#include "engine/configure/json/custom_config_json.h"
#include "engine/configure/keys/key_table.h"

namespace qs {

namespace {

/// Reads the `mapping` block of one recipe, whose qconfigs are already read.
class MappingReader
{
public:
    explicit MappingReader(const Recipe& recipe)
        : m_recipe(recipe)
    {
    }

    Result<std::vector<Rule>> read(const JsonPlace& place)
    {
        QS_CHECK(checkKeys(place, keyTable("recipe", "mapping").keys()));
        if (place.has("global")) {
            Rule rule;
            QS_TRY(rule.qconfig, qconfig(place.key("global")));
            m_rules.push_back(std::move(rule));
        }
        QS_CHECK(readList(place, RuleKind::ObjectType, "[type, qconfig]"));
        QS_CHECK(readList(place, RuleKind::ModuleNameRegex, "[regex, qconfig]"));
        QS_CHECK(readList(place, RuleKind::ModuleName, "[module, qconfig]"));
        QS_CHECK(
            readList(place, RuleKind::ModuleNameObjectTypeOrder, "[module, type, index, qconfig]"));
        QS_CHECK(readList(place, RuleKind::Node, "[node, qconfig]"));
        QS_CHECK(readList(place, RuleKind::Edge, "[producer, consumer, input_index, qconfig]"));
        return std::move(m_rules);
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
        QS_TRY(std::vector<Rule> rules, qs::readList(mapping.key(key), [&](const JsonPlace& place) {
                   return readRule(place, kind, shape);
               }));
        std::move(rules.begin(), rules.end(), std::back_inserter(m_rules));
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
            if (const auto pattern = Pattern::compile(rule.key); !pattern) {
                const Error& why = pattern.error();
                return place.item(0).error(why.message + (why.hint.empty() ? "" : "; " + why.hint));
            }
        return rule;
    }

    const Recipe& m_recipe;
    std::vector<Rule> m_rules;
};

/// Returns the rule's text for messages: "module_name 'conv1'".
std::string ruleWords(const Rule& rule)
{
    const std::string kind(ruleKindName(rule.kind));
    return rule.key.empty() ? kind : kind + " '" + rule.key + "'";
}

bool sameSubject(const Rule& a, const Rule& b)
{
    return a.kind == b.kind && a.key == b.key && a.secondKey == b.secondKey && a.index == b.index;
}

} // namespace

Result<std::vector<Rule>> readMapping(const JsonPlace& place, const Recipe& recipe)
{
    return MappingReader(recipe).read(place);
}

Result<std::vector<Rule>> readConvertMapping(const JsonPlace& place, const Recipe& recipe)
{
    QS_TRY(const std::vector<Rule> given, readMapping(place, recipe));
    const QConfigMapping mapping = effectiveMapping(recipe);
    std::vector<Rule> out;
    for (Rule rule : given) {
        if (!rule.qconfig.config && rule.kind != RuleKind::Global) {
            rule.atConvert = true;
            out.push_back(std::move(rule));
            continue;
        }
        const Rule* prepared = nullptr;
        for (const Rule& known : mapping.rules)
            if (sameSubject(known, rule))
                prepared = &known;
        if (prepared && prepared->qconfig.config == rule.qconfig.config)
            continue;
        const auto name = [](const NamedQConfig& qconfig) {
            return qconfig.config ? "'" + qconfig.name + "'" : std::string("null");
        };
        return place.error(ruleWords(rule) + " is " + name(rule.qconfig) + " here and "
                               + (prepared ? name(prepared->qconfig) : "absent")
                               + " in the recipe's mapping",
                           "at conversion a qconfig can only be taken away: write null rules, or "
                           "change the recipe's mapping");
    }
    return out;
}

} // namespace qs
