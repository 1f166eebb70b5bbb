// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/entry_fields.h"

#include "engine/base/text.h"
#include "engine/configure/backend/entry_json.h"

#include <algorithm>

namespace qs {

namespace {

template<class Number>
std::string fieldOf(const std::optional<Number>& value)
{
    return value ? Json(*value).dump() : std::string();
}

std::string fieldOf(const std::optional<DType>& dtype)
{
    return dtype ? std::string(dtypeName(*dtype)) : std::string();
}

DTypeFields fieldsOfDType(const DTypeWithConstraints& value)
{
    return {fieldOf(value.dtype),
            fieldOf(value.quantMinLowerBound),
            fieldOf(value.quantMaxUpperBound),
            fieldOf(value.scaleMinLowerBound),
            fieldOf(value.scaleMaxUpperBound),
            fieldOf(value.scaleExactMatch),
            fieldOf(value.zeroPointExactMatch)};
}

/// Returns a number if the text is one, else the text, which the reader rejects.
Json numberOr(const std::string& text)
{
    const Json read = Json::parse(text, nullptr, false);
    return read.is_number() ? read : Json(text);
}

void setField(Json& object, const char* key, const std::string& field, bool isNumber = false)
{
    const std::string text(trimmed(field));
    if (text.empty())
        object.erase(key);
    else
        object[key] = isNumber ? numberOr(text) : Json(text);
}

Json jsonOfDType(const DTypeFields& fields)
{
    Json out = Json::object();
    setField(out, "dtype", fields.dtype);
    setField(out, "quant_min_lower_bound", fields.quantMin, true);
    setField(out, "quant_max_upper_bound", fields.quantMax, true);
    setField(out, "scale_min_lower_bound", fields.scaleMin, true);
    setField(out, "scale_max_upper_bound", fields.scaleMax, true);
    setField(out, "scale_exact_match", fields.scaleExact, true);
    setField(out, "zero_point_exact_match", fields.zeroPointExact, true);
    return out;
}

Json jsonOfConfig(const DTypeConfigFields& fields)
{
    Json out = Json::object();
    const std::pair<const char*, const DTypeFields*> roles[] {{"input_dtype", &fields.input},
                                                              {"output_dtype", &fields.output},
                                                              {"weight_dtype", &fields.weight}};
    for (const auto& [key, value] : roles)
        if (*value != DTypeFields {})
            out[key] = jsonOfDType(*value);
    setField(out, "bias_dtype", fields.bias);
    if (fields.isDynamic)
        out["is_dynamic"] = true;
    return out;
}

std::vector<std::string> splitNames(const std::string& text)
{
    std::vector<std::string> names;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        if (const std::string name(trimmed(text.substr(from, to - from))); !name.empty())
            names.push_back(name);
        from = to + 1;
    }
    return names;
}

} // namespace

std::string patternLine(const BackendPattern& entry)
{
    if (!entry.complexFormat.empty())
        return entry.complexFormat;
    std::string line;
    for (const std::string& name : entry.pattern)
        line += (line.empty() ? "" : ", ") + name;
    return line;
}

EntryFields fieldsOf(const BackendPattern& entry)
{
    EntryFields fields {
        patternLine(entry),    std::string(observationTypeName(entry.observationType)),
        entry.rootModule,      entry.qatModule,
        entry.referenceModule, entry.fusedModule,
        entry.fuserMethod,     {}};
    for (const DTypeConfig& config : entry.dtypeConfigs)
        fields.configs.push_back({fieldsOfDType(config.input), fieldsOfDType(config.output),
                                  fieldsOfDType(config.weight), fieldOf(config.biasDType),
                                  config.isDynamic});
    return fields;
}

Result<BackendPattern> withFields(const BackendPattern& entry, const EntryFields& fields,
                                  const std::string& place)
{
    Json document = entryToJson(entry);
    document.erase("pattern");
    document.erase("pattern_complex_format");
    if (const std::string pattern(trimmed(fields.pattern)); pattern.starts_with('[')) {
        QS_TRY(document["pattern_complex_format"],
               parseJson(pattern, place + ".pattern_complex_format"));
    } else {
        document["pattern"] = splitNames(pattern);
    }
    setField(document, "observation_type", fields.observationType);
    setField(document, "root_module", fields.rootModule);
    setField(document, "qat_module", fields.qatModule);
    setField(document, "reference_quantized_module", fields.referenceModule);
    setField(document, "fused_module", fields.fusedModule);
    setField(document, "fuser_method", fields.fuserMethod);
    document.erase("dtype_configs");
    for (const DTypeConfigFields& config : fields.configs)
        document["dtype_configs"].push_back(jsonOfConfig(config));
    return readBackendPattern(JsonPlace(document, {}, place));
}

} // namespace qs
