// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/dumps/backend_import.h"

#include "engine/configure/dumps/dump_names.h"
#include "engine/configure/dumps/python_value.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

constexpr const char* kReference = "reference_quantized_module";

/// "ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT" or "<ObservationType....: 1>" as
/// "output_share_observer_with_input".
Result<Json> observationWord(const JsonPlace& place)
{
    QS_TRY(std::string text, place.string());
    if (const auto dot = text.find('.'); dot != std::string::npos)
        text.erase(0, dot + 1);
    text.erase(std::find_if(text.begin(), text.end(), [](char c) { return c == ':' || c == '>'; }),
               text.end());
    for (char& c : text)
        c = char(std::tolower(static_cast<unsigned char>(c)));
    return Json(text);
}

/// "torch.quint8", or "DTypeWithConstraints(dtype=torch.quint8, quant_min_lower_bound=0, ...)".
Result<Json> constrainedJson(const JsonPlace& place)
{
    if (!place.value().is_string()) {
        if (!place.value().is_object())
            return place.value();
        Json out = Json::object();
        for (const auto& [key, bound] : place.value().items())
            if (!bound.is_null())
                out[key] = bound;
        return out;
    }
    QS_TRY(const std::string text, place.string());
    auto value = readPythonValue(text);
    if (!value)
        return place.error(value.error().message);
    if (value->kind != PythonValue::Kind::Call)
        return Json(text);
    Json out = Json::object();
    for (const auto& [key, argument] : value->arguments) {
        const bool name = argument.kind == PythonValue::Kind::Name;
        if (name || !argument.constant.is_null())
            out[key] = name ? Json(argument.text) : argument.constant;
    }
    return out;
}

/// Converts the entries of a dump.
class BackendImporter
{
public:
    BackendImporter(const JsonPlace& dump, const DumpNames& names)
        : m_dump(dump)
        , m_names(names)
    {
    }

    Result<Json> run()
    {
        Json out {{"format", "quantscope.backend"}, {"version", 1}};
        out["name"] = m_dump.has("name") ? m_dump.key("name").value() : Json("");
        if (out["name"] == Json(""))
            out["name"] = "imported";
        out["description"] = "from a dump of torch.ao's BackendConfig";
        out["patterns"] = Json::array();
        const JsonPlace list = m_dump.key("configs");
        QS_CHECK(list.array());
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(Json one, entry(list.item(i)));
            out["patterns"].push_back(std::move(one));
        }
        return out;
    }

private:
    Result<Json> entry(const JsonPlace& place) const
    {
        QS_CHECK(place.object({"pattern", "pattern_complex_format", "observation_type",
                               "dtype_configs", "root_module", "qat_module", kReference,
                               "reference_quantized_module_for_root", "fused_module",
                               "fuser_method", "root_node_getter", "extra_inputs_getter",
                               "num_tensor_args_to_observation_type", "input_type_to_index"}));
        Json out = Json::object();
        for (const char* key : {"pattern", "pattern_complex_format"})
            if (has(place, key)) {
                QS_TRY(out[key], pattern(place.key(key)));
            }
        if (has(place, "observation_type")) {
            QS_TRY(out["observation_type"], observationWord(place.key("observation_type")));
        }
        const std::pair<const char*, const char*> modules[] {
            {"root_module", "root_module"},
            {"qat_module", "qat_module"},
            {kReference, kReference},
            {"reference_quantized_module_for_root", kReference},
            {"fused_module", "fused_module"}};
        for (const auto& [from, to] : modules)
            if (has(place, from)) {
                QS_TRY(out[to], m_names.name(place.key(from)));
            }
        if (has(place, "fuser_method")) {
            QS_TRY(out["fuser_method"], fuser(place.key("fuser_method")));
        }
        QS_CHECK(maps(place, out));
        if (has(place, "dtype_configs")) {
            QS_TRY(out["dtype_configs"], dtypes(place.key("dtype_configs")));
        }
        return out;
    }

    static bool has(const JsonPlace& place, const char* key)
    {
        return place.has(key) && !place.value().at(key).is_null();
    }

    Result<Json> pattern(const JsonPlace& place) const
    {
        if (!place.value().is_array()) {
            QS_TRY(const std::string name, m_names.name(place));
            return Json(name);
        }
        Json out = Json::array();
        for (std::size_t i = 0; i < place.value().size(); ++i) {
            QS_TRY(Json part, pattern(place.item(i)));
            out.push_back(std::move(part));
        }
        return out;
    }

    /// Many fusers are closures over the module that they build; `fused_module` then suffices.
    Result<Json> fuser(const JsonPlace& place) const
    {
        QS_TRY(const std::string text, place.string());
        if (text.find("<locals>") != std::string::npos)
            return Json("sequential");
        QS_TRY(const std::string name, m_names.name(place));
        return Json(name);
    }

    static Result<void> maps(const JsonPlace& place, Json& out)
    {
        constexpr const char* kCounts = "num_tensor_args_to_observation_type";
        if (has(place, kCounts)) {
            const JsonPlace map = place.key(kCounts);
            if (!map.value().is_object())
                return map.error("expected an object");
            for (const auto& [count, value] : map.value().items()) {
                QS_TRY(out[kCounts][count], observationWord(map.key(count)));
            }
        }
        if (has(place, "input_type_to_index"))
            out["input_type_to_index"] = place.key("input_type_to_index").value();
        return {};
    }

    static Result<Json> dtypes(const JsonPlace& list)
    {
        QS_CHECK(list.array());
        Json out = Json::array();
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            const JsonPlace config = list.item(i);
            QS_CHECK(config.object(
                {"input_dtype", "output_dtype", "weight_dtype", "bias_dtype", "is_dynamic"}));
            Json one = Json::object();
            for (const char* key : {"input_dtype", "output_dtype", "weight_dtype"})
                if (has(config, key)) {
                    QS_TRY(one[key], constrainedJson(config.key(key)));
                }
            for (const char* key : {"bias_dtype", "is_dynamic"})
                if (has(config, key))
                    one[key] = config.key(key).value();
            out.push_back(std::move(one));
        }
        return out;
    }

    JsonPlace m_dump;
    const DumpNames& m_names;
};

} // namespace

bool isBackendDump(const Json& value)
{
    return value.is_object() && !value.contains("format") && value.contains("configs");
}

Result<Json> importBackend(const JsonPlace& dump)
{
    QS_CHECK(dump.object({"name", "configs"}));
    QS_TRY(const DumpNames names, DumpNames::forBackend(dump.value()));
    return BackendImporter(dump, names).run();
}

} // namespace qs
