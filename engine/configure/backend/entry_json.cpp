// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/entry_json.h"

#include "engine/base/json/nearest_name.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/observer_json.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::array<std::pair<ObservationType, std::string_view>, 3> kObservationNames {{
    {ObservationType::OutputUseDifferentObserver, "output_use_different_observer_as_input"},
    {ObservationType::OutputShareObserver, "output_share_observer_with_input"},
    {ObservationType::InputOutputNotObserved, "input_output_not_observed"},
}};

Result<ObservationType> readObservation(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    std::vector<std::string> names;
    for (const auto& [type, text] : kObservationNames) {
        if (text == name)
            return type;
        names.emplace_back(text);
    }
    return place.error("unknown observation type '" + name + "'", suggestName(name, names));
}

Result<DTypeWithConstraints> readConstrained(const JsonPlace& place)
{
    DTypeWithConstraints out;
    if (!place.value().is_object()) {
        QS_TRY(out.dtype, readDType(place));
        return out;
    }
    QS_CHECK(place.object(keyTable("backend", "patterns[0].dtype_configs[0].input_dtype").keys()));
    if (place.has("dtype")) {
        QS_TRY(out.dtype, readDType(place.key("dtype")));
    }
    if (place.has("quant_min_lower_bound")) {
        QS_TRY(out.quantMinLowerBound, place.key("quant_min_lower_bound").integer());
    }
    if (place.has("quant_max_upper_bound")) {
        QS_TRY(out.quantMaxUpperBound, place.key("quant_max_upper_bound").integer());
    }
    if (place.has("scale_min_lower_bound")) {
        QS_TRY(out.scaleMinLowerBound, place.key("scale_min_lower_bound").number());
    }
    if (place.has("scale_max_upper_bound")) {
        QS_TRY(out.scaleMaxUpperBound, place.key("scale_max_upper_bound").number());
    }
    if (place.has("scale_exact_match")) {
        QS_TRY(out.scaleExactMatch, place.key("scale_exact_match").number());
    }
    if (place.has("zero_point_exact_match")) {
        QS_TRY(out.zeroPointExactMatch, place.key("zero_point_exact_match").integer());
    }
    return out;
}

Result<DTypeConfig> readDTypeConfig(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("backend", "patterns[0].dtype_configs[0]").keys()));
    DTypeConfig config;
    if (place.has("input_dtype")) {
        QS_TRY(config.input, readConstrained(place.key("input_dtype")));
    }
    if (place.has("output_dtype")) {
        QS_TRY(config.output, readConstrained(place.key("output_dtype")));
    }
    if (place.has("weight_dtype")) {
        QS_TRY(config.weight, readConstrained(place.key("weight_dtype")));
    }
    if (place.has("bias_dtype")) {
        QS_TRY(config.biasDType, readDType(place.key("bias_dtype")));
    }
    if (place.has("is_dynamic")) {
        QS_TRY(config.isDynamic, place.key("is_dynamic").boolean());
    }
    return config;
}

Result<std::vector<std::string>> readPattern(const JsonPlace& place)
{
    if (place.value().is_string()) {
        QS_TRY(std::string name, place.string());
        return std::vector<std::string> {std::move(name)};
    }
    QS_TRY(std::vector<std::string> names, place.strings());
    if (names.empty() || names.size() > 3)
        return place.error("a pattern has one, two or three operators, not "
                           + std::to_string(names.size()));
    return names;
}

Result<void> readArgumentMaps(const JsonPlace& place, BackendPattern& entry)
{
    if (place.has("num_tensor_args_to_observation_type")) {
        const JsonPlace map = place.key("num_tensor_args_to_observation_type");
        if (!map.value().is_object())
            return map.error("an object is wanted");
        for (const auto& [count, value] : map.value().items()) {
            if (count.empty() || count.size() > 3
                || !std::all_of(count.begin(), count.end(),
                                [](unsigned char c) { return std::isdigit(c); }))
                return map.error("'" + count + "' is not a number of tensors");
            QS_TRY(entry.numTensorArgsToObservationType[std::stoi(count)],
                   readObservation(map.key(count)));
        }
    }
    if (place.has("input_type_to_index")) {
        const JsonPlace map = place.key("input_type_to_index");
        QS_CHECK(map.object(keyTable("backend", "patterns[0].input_type_to_index").keys()));
        for (const auto& [role, value] : map.value().items()) {
            QS_TRY(const std::int64_t index, map.key(role).integer());
            entry.inputTypeToIndex[role] = int(index);
        }
    }
    return {};
}

Json constrainedToJson(const DTypeWithConstraints& value)
{
    const Json dtype = value.dtype ? Json(dtypeName(*value.dtype)) : Json();
    Json out;
    if (value.dtype)
        out["dtype"] = dtype;
    const std::size_t bare = out.size();
    if (value.quantMinLowerBound)
        out["quant_min_lower_bound"] = *value.quantMinLowerBound;
    if (value.quantMaxUpperBound)
        out["quant_max_upper_bound"] = *value.quantMaxUpperBound;
    if (value.scaleMinLowerBound)
        out["scale_min_lower_bound"] = *value.scaleMinLowerBound;
    if (value.scaleMaxUpperBound)
        out["scale_max_upper_bound"] = *value.scaleMaxUpperBound;
    if (value.scaleExactMatch)
        out["scale_exact_match"] = *value.scaleExactMatch;
    if (value.zeroPointExactMatch)
        out["zero_point_exact_match"] = *value.zeroPointExactMatch;
    return out.size() == bare ? dtype : out;
}

Json dtypeConfigToJson(const DTypeConfig& config)
{
    Json out = Json::object();
    const std::pair<const char*, const DTypeWithConstraints*> roles[] {
        {"input_dtype", &config.input},
        {"output_dtype", &config.output},
        {"weight_dtype", &config.weight}};
    for (const auto& [key, value] : roles)
        if (*value != DTypeWithConstraints {})
            out[key] = constrainedToJson(*value);
    if (config.biasDType)
        out["bias_dtype"] = dtypeName(*config.biasDType);
    if (config.isDynamic)
        out["is_dynamic"] = true;
    return out;
}

} // namespace

Result<BackendPattern> readBackendPattern(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("backend", "patterns[0]").keys()));
    BackendPattern entry;
    if (place.has("pattern") == place.has("pattern_complex_format"))
        return place.error("exactly one of 'pattern' and 'pattern_complex_format' is wanted");
    if (place.has("pattern")) {
        QS_TRY(entry.pattern, readPattern(place.key("pattern")));
    } else {
        entry.complexFormat = place.key("pattern_complex_format").value().dump();
    }
    if (place.has("observation_type")) {
        QS_TRY(entry.observationType, readObservation(place.key("observation_type")));
    }
    QS_CHECK(readArgumentMaps(place, entry));
    const std::pair<const char*, std::string*> names[] {
        {"root_module", &entry.rootModule},
        {"qat_module", &entry.qatModule},
        {"reference_quantized_module", &entry.referenceModule},
        {"fused_module", &entry.fusedModule},
        {"fuser_method", &entry.fuserMethod}};
    for (const auto& [key, target] : names)
        if (place.has(key)) {
            QS_TRY(*target, place.key(key).string());
        }
    if (place.has("dtype_configs")) {
        QS_TRY(entry.dtypeConfigs, readList(place.key("dtype_configs"), readDTypeConfig));
    }
    return entry;
}

Json entryToJson(const BackendPattern& entry)
{
    Json out;
    if (entry.complexFormat.empty())
        out["pattern"] = entry.pattern;
    else
        out["pattern_complex_format"] = Json::parse(entry.complexFormat);
    if (!entry.dtypeConfigs.empty()
        || entry.observationType != ObservationType::OutputUseDifferentObserver)
        out["observation_type"] = observationTypeName(entry.observationType);
    for (const auto& [count, type] : entry.numTensorArgsToObservationType)
        out["num_tensor_args_to_observation_type"][std::to_string(count)]
            = observationTypeName(type);
    for (const auto& [role, index] : entry.inputTypeToIndex)
        out["input_type_to_index"][role] = index;
    const std::pair<const char*, const std::string*> names[] {
        {"root_module", &entry.rootModule},
        {"qat_module", &entry.qatModule},
        {"reference_quantized_module", &entry.referenceModule},
        {"fused_module", &entry.fusedModule},
        {"fuser_method", &entry.fuserMethod}};
    for (const auto& [key, value] : names)
        if (!value->empty())
            out[key] = *value;
    for (const auto& config : entry.dtypeConfigs)
        out["dtype_configs"].push_back(dtypeConfigToJson(config));
    return out;
}

std::string_view observationTypeName(ObservationType wanted)
{
    const auto found = std::find_if(kObservationNames.begin(), kObservationNames.end(),
                                    [wanted](const auto& row) { return row.first == wanted; });
    return found == kObservationNames.end() ? std::string_view() : found->second;
}

std::string entryText(const BackendPattern& entry)
{
    return entryToJson(entry).dump(2);
}

Result<BackendPattern> parseEntry(const std::string& text, const std::string& place)
{
    QS_TRY(const Json document, parseJson(text, place));
    return readBackendPattern(JsonPlace(document, {}, place));
}

} // namespace qs
