// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/entry_json.h"

#include "engine/base/json/json_fields.h"
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

using Constrained = DTypeWithConstraints;
constexpr std::array kConstrainedFields {
    jsonField<&Constrained::dtype, readDType, dtypeName>("dtype"),
    jsonField<&Constrained::quantMinLowerBound>("quant_min_lower_bound"),
    jsonField<&Constrained::quantMaxUpperBound>("quant_max_upper_bound"),
    jsonField<&Constrained::scaleMinLowerBound>("scale_min_lower_bound"),
    jsonField<&Constrained::scaleMaxUpperBound>("scale_max_upper_bound"),
    jsonField<&Constrained::scaleExactMatch>("scale_exact_match"),
    jsonField<&Constrained::zeroPointExactMatch>("zero_point_exact_match")};

Result<Constrained> readConstrained(const JsonPlace& place)
{
    Constrained out;
    if (!place.value().is_object()) {
        QS_TRY(out.dtype, readDType(place));
        return out;
    }
    QS_CHECK(place.object(keyTable("backend", "patterns[0].dtype_configs[0].input_dtype").keys()));
    QS_CHECK(readFields(place, kConstrainedFields, out));
    return out;
}

/// A dtype without constraints is written as a plain string.
Json constrainedToJson(const Constrained& value)
{
    Json out;
    writeFields(out, kConstrainedFields, value);
    const bool isBare = out.size() == std::size_t(value.dtype.has_value());
    return isBare && value.dtype ? Json(dtypeName(*value.dtype)) : out;
}

constexpr std::array kConfigFields {
    jsonField<&DTypeConfig::input, readConstrained, constrainedToJson>("input_dtype"),
    jsonField<&DTypeConfig::output, readConstrained, constrainedToJson>("output_dtype"),
    jsonField<&DTypeConfig::weight, readConstrained, constrainedToJson>("weight_dtype"),
    jsonField<&DTypeConfig::biasDType, readDType, dtypeName>("bias_dtype"),
    jsonField<&DTypeConfig::isDynamic>("is_dynamic")};

Result<DTypeConfig> readDTypeConfig(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("backend", "patterns[0].dtype_configs[0]").keys()));
    return readFields(place, kConfigFields);
}

Json dtypeConfigToJson(const DTypeConfig& config)
{
    return fieldsToJson(kConfigFields, config);
}

/// The text members, and the dtypes.
constexpr std::array kEntryFields {
    jsonField<&BackendPattern::rootModule>("root_module"),
    jsonField<&BackendPattern::qatModule>("qat_module"),
    jsonField<&BackendPattern::referenceModule>("reference_quantized_module"),
    jsonField<&BackendPattern::fusedModule>("fused_module"),
    jsonField<&BackendPattern::fuserMethod>("fuser_method"),
    jsonField<&BackendPattern::dtypeConfigs, readDTypeConfig, dtypeConfigToJson>("dtype_configs")};

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
            return map.error("expected an object");
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

} // namespace

Result<BackendPattern> readBackendPattern(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("backend", "patterns[0]").keys()));
    BackendPattern entry;
    if (place.has("pattern") == place.has("pattern_complex_format"))
        return place.error("expected exactly one of 'pattern' and 'pattern_complex_format'");
    if (place.has("pattern")) {
        QS_TRY(entry.pattern, readPattern(place.key("pattern")));
    } else {
        entry.complexFormat = place.key("pattern_complex_format").value().dump();
    }
    if (place.has("observation_type")) {
        QS_TRY(entry.observationType, readObservation(place.key("observation_type")));
    }
    QS_CHECK(readArgumentMaps(place, entry));
    QS_CHECK(readFields(place, kEntryFields, entry));
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
    writeFields(out, kEntryFields, entry);
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
