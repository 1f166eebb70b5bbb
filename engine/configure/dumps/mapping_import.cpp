// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/dumps/mapping_import.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/dumps/dump_names.h"
#include "engine/configure/dumps/python_value.h"
#include "engine/configure/qconfig_mapping.h"
#include "engine/configure/qconfigs/observer_json.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kClasses {{
    {"MinMaxObserver", "minmax"},
    {"MovingAverageMinMaxObserver", "moving_average_minmax"},
    {"PerChannelMinMaxObserver", "per_channel_minmax"},
    {"MovingAveragePerChannelMinMaxObserver", "moving_average_per_channel_minmax"},
    {"HistogramObserver", "histogram"},
    {"FixedQParamsObserver", "fixed_qparams"},
    {"PlaceholderObserver", "placeholder"},
    {"ReuseInputObserver", "reuse_input"},
    {"NoopObserver", "noop"},
    {"RecordingObserver", "recording"},
    {"Identity", "identity"},
    {"FakeQuantize", "fake_quantize"},
    {"FixedQParamsFakeQuantize", "fixed_qparams_fake_quantize"},
    {"FusedMovingAvgObsFakeQuantize", "fused_moving_avg_obs_fake_quantize"},
}};
const std::vector<std::string> kKeys {"", "object_type", "module_name_regex", "module_name",
                                      "module_name_object_type_order"};

Result<Json> observerNamed(const JsonPlace& place, const std::string& printed)
{
    const std::string name = lastPart(classNameOf(printed));
    for (const auto& [known, word] : kClasses)
        if (known == name)
            return Json {{"observer", word}};
    std::vector<std::string> classes;
    for (const auto& [known, word] : kClasses)
        classes.emplace_back(known);
    return place.error("unknown observer class '" + classNameOf(printed) + "'",
                       suggestName(name, classes));
}

Result<Json> observerFromPython(const JsonPlace& place, const PythonValue& value)
{
    using Kind = PythonValue::Kind;
    if (value.kind == Kind::Constant)
        return value.constant.is_null() ? Result<Json>(Json {{"observer", "identity"}})
                                        : place.error("expected an observer class");
    QS_TRY(Json out, observerNamed(place, value.text));
    for (const auto& [key, argument] : value.arguments) {
        if (key.empty())
            return place.error("arguments without a name cannot be read",
                               "write them as name=value");
        if (key == "observer") {
            QS_TRY(out["inner"], observerFromPython(place, argument));
        } else if (argument.kind == Kind::Constant) {
            out[key] = argument.constant;
        } else {
            out[key] = lastPart(argument.text); // torch.quint8, torch.per_tensor_affine
        }
    }
    return out;
}

Result<Json> observerJson(const JsonPlace& place)
{
    const Json& value = place.value();
    if (value.is_null())
        return Json {{"observer", "identity"}};
    if (value.is_object())
        return value;
    QS_TRY(const std::string text, place.string());
    auto parsed = readPythonValue(text);
    if (!parsed)
        return place.error(parsed.error().message);
    return observerFromPython(place, *parsed);
}

/// Translates one dump; names qconfigs in order of appearance.
class MappingImporter
{
public:
    MappingImporter(const JsonPlace& dump, const Json& taken, const DumpNames& names)
        : m_dump(dump)
        , m_taken(taken)
        , m_names(names)
    {
    }

    Result<ImportedMapping> run()
    {
        if (m_dump.has("")) {
            Rule global;
            QS_TRY(global.qconfig.config, qconfig(m_dump.key("")));
            m_rules.push_back(std::move(global));
        }
        QS_CHECK(readList(RuleKind::ObjectType));
        QS_CHECK(readList(RuleKind::ModuleNameRegex));
        QS_CHECK(readList(RuleKind::ModuleName));
        QS_CHECK(readList(RuleKind::ModuleNameObjectTypeOrder));
        recognizeDefaults();
        return written();
    }

private:
    Result<std::optional<QConfig>> qconfig(const JsonPlace& place) const
    {
        const Json& value = place.value();
        if (value.is_null())
            return std::optional<QConfig> {};
        Json parts = value;
        if (value.is_string()) {
            QS_TRY(parts, qconfigText(place));
            if (parts.is_null())
                return std::optional<QConfig> {};
        } else if (value.is_array() && value.size() == 2) {
            QS_TRY(Json activation, observerJson(place.item(0)));
            QS_TRY(Json weight, observerJson(place.item(1)));
            parts = Json {{"activation", std::move(activation)}, {"weight", std::move(weight)}};
        } else if (!value.is_object()) {
            return place.error("a qconfig is a pair [activation, weight], a preset's name or null");
        }
        QS_TRY(QConfig out, readQConfig(JsonPlace(parts, place.file(), place.path())));
        return std::optional<QConfig>(std::move(out));
    }

    /// "QConfig(activation=..., weight=...)", or a preset: "torch.ao.quantization.default_qconfig".
    Result<Json> qconfigText(const JsonPlace& place) const
    {
        QS_TRY(const std::string text, place.string());
        auto value = readPythonValue(text);
        if (!value)
            return place.error(value.error().message);
        if (value->kind == PythonValue::Kind::Constant && value->constant.is_null())
            return Json();
        if (value->kind == PythonValue::Kind::Call && lastPart(value->text) == "QConfig") {
            Json parts = Json::object();
            for (std::size_t i = 0; i < value->arguments.size(); ++i) {
                const auto& [key, argument] = value->arguments[i];
                const std::string part = !key.empty() ? key : i == 0 ? "activation" : "weight";
                QS_TRY(parts[part], observerFromPython(place, argument));
            }
            return parts;
        }
        std::string preset = lastPart(value->text);
        if (const auto at = preset.find("_qconfig"); at != std::string::npos)
            preset.erase(at, 8);
        if (const auto known = presetQConfig(preset))
            return qconfigToJson(*known);
        std::vector<std::string> known = presetNames();
        for (const std::string& name : presetNames())
            known.push_back(name + "_qconfig");
        return place.error("unknown qconfig '" + text + "'",
                           suggestName(lastPart(value->text), known));
    }

    Result<void> readList(RuleKind kind)
    {
        const std::string key(ruleKindName(kind));
        if (!m_dump.has(key.c_str()))
            return {};
        const JsonPlace list = m_dump.key(key);
        // A directly dumped OrderedDict: {"conv1": ...} instead of [["conv1", ...]].
        if (list.value().is_object() && kind != RuleKind::ModuleNameObjectTypeOrder) {
            for (const auto& [name, value] : list.value().items()) {
                Rule rule;
                rule.kind = kind;
                rule.key = name;
                if (kind == RuleKind::ObjectType) {
                    QS_TRY(rule.key, m_names.name(name, list));
                }
                QS_TRY(rule.qconfig.config, qconfig(list.key(name)));
                m_rules.push_back(std::move(rule));
            }
            return {};
        }
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(Rule rule, readRule(list.item(i), kind));
            m_rules.push_back(std::move(rule));
        }
        return {};
    }

    Result<Rule> readRule(const JsonPlace& place, RuleKind kind) const
    {
        const bool order = kind == RuleKind::ModuleNameObjectTypeOrder;
        const std::size_t size = order ? 4 : 2;
        if (!place.value().is_array() || place.value().size() != size)
            return place.error(order ? "a rule is a list [module, type, index, qconfig]"
                                     : "a rule is a list [key, qconfig]");
        Rule rule;
        rule.kind = kind;
        if (kind == RuleKind::ObjectType) {
            QS_TRY(rule.key, m_names.name(place.item(0)));
        } else {
            QS_TRY(rule.key, place.item(0).string());
        }
        if (order) {
            QS_TRY(rule.secondKey, m_names.name(place.item(1)));
            QS_TRY(const std::int64_t index, place.item(2).integer());
            rule.index = int(index);
        }
        QS_TRY(rule.qconfig.config, qconfig(place.item(size - 1)));
        return rule;
    }

    const Rule* find(const Rule& wanted) const
    {
        for (const Rule& rule : m_rules)
            if (rule.kind == wanted.kind && rule.key == wanted.key)
                return &rule;
        return nullptr;
    }

    /// If all keys of a default mapping are present with its global qconfig, replaces that and the
    /// equal entries by its name.
    void recognizeDefaults()
    {
        for (const std::string& name : QConfigMapping::defaultNames()) {
            const QConfigMapping known = *QConfigMapping::defaultFor(name);
            const bool whole = known.rules.size() > 1
                && std::all_of(known.rules.begin(), known.rules.end(), [this](const Rule& rule) {
                                   const Rule* own = find(rule);
                                   return own
                                       && (rule.kind != RuleKind::Global
                                           || own->qconfig.config == rule.qconfig.config);
                               });
            if (!whole)
                continue;
            m_default = name;
            std::erase_if(m_rules, [&known](const Rule& own) {
                return own.kind == RuleKind::ObjectType
                    && std::any_of(known.rules.begin(), known.rules.end(),
                                   [&own](const Rule& rule) {
                                       return rule.kind == own.kind && rule.key == own.key
                                           && rule.qconfig.config == own.qconfig.config;
                                   });
            });
            return;
        }
    }

    /// Returns the preset equal to this qconfig, else empty. Prefers one that does not name a whole
    /// mapping, because under "global" such a name implies that mapping.
    std::string presetFor(const QConfig& qconfig, bool global) const
    {
        const auto setters = QConfigMapping::defaultNames();
        std::string setter;
        for (const std::string& name : presetNames()) {
            if (m_taken.contains(name) || presetQConfig(name) != qconfig)
                continue;
            if (std::find(setters.begin(), setters.end(), name) == setters.end())
                return name;
            if (setter.empty() && !global)
                setter = name;
        }
        return setter;
    }

    /// Returns the name of a qconfig: an equal preset's, else "imported_1" ...
    Json nameOf(const Rule& rule)
    {
        if (!rule.qconfig.config)
            return {};
        const bool global = rule.kind == RuleKind::Global;
        if (global && !m_default.empty())
            return m_default;
        if (const std::string preset = presetFor(*rule.qconfig.config, global); !preset.empty())
            return preset;
        const Json body = qconfigToJson(*rule.qconfig.config);
        for (const auto& [name, known] : m_qconfigs.items())
            if (known == body)
                return name;
        std::string name;
        for (int i = 1; name.empty() || m_taken.contains(name) || m_qconfigs.contains(name); ++i)
            name = "imported_" + std::to_string(i);
        m_qconfigs[name] = body;
        return name;
    }

    ImportedMapping written()
    {
        ImportedMapping out;
        out.mapping = Json::object();
        out.summary = "global qconfig none";
        std::map<RuleKind, int> counts;
        for (const Rule& rule : m_rules) {
            const Json name = nameOf(rule);
            if (rule.kind == RuleKind::Global) {
                out.mapping["global"] = name;
                if (!name.is_null())
                    out.summary = "global qconfig " + name.get<std::string>()
                        + (m_default.empty() ? "" : " with its default entries");
                continue;
            }
            ++counts[rule.kind];
            Json& list = out.mapping[std::string(ruleKindName(rule.kind))];
            if (rule.kind == RuleKind::ModuleNameObjectTypeOrder)
                list.push_back(Json::array({rule.key, rule.secondKey, rule.index, name}));
            else
                list.push_back(Json::array({rule.key, name}));
        }
        for (const auto& [kind, count] : counts)
            out.summary += ", " + counted(count, std::string(ruleKindName(kind)) + " rule");
        out.qconfigs = m_qconfigs;
        return out;
    }

    JsonPlace m_dump;
    const Json& m_taken;
    const DumpNames& m_names;
    std::vector<Rule> m_rules;
    std::string m_default;
    Json m_qconfigs = Json::object();
};

} // namespace

bool isMappingDump(const Json& value)
{
    if (!value.is_object() || value.contains("format"))
        return false;
    if (value.contains(""))
        return true;
    // Detects rules whose qconfig is a pair.
    for (const std::string& key : kKeys)
        if (value.contains(key) && value[key].is_array())
            for (const Json& rule : value[key])
                if (rule.is_array() && !rule.empty() && rule.back().is_array())
                    return true;
    return false;
}

Result<ImportedMapping> importMapping(const JsonPlace& dump, const Json& taken)
{
    QS_CHECK(dump.object(kKeys));
    QS_TRY(const DumpNames names, DumpNames::make());
    return MappingImporter(dump, taken, names).run();
}

} // namespace qs
