// SPDX-License-Identifier: Apache-2.0
#include "engine/result/sample_json.h"

#include "engine/result/error_json.h"

#include <charconv>

namespace qs {

namespace {

Json classJson(const std::optional<std::int64_t>& of)
{
    return of ? Json(*of) : Json(nullptr);
}

std::optional<std::int64_t> classAt(const Json& record, const char* key)
{
    const Json* value = memberOf(record, key);
    return value ? std::optional(value->get<std::int64_t>()) : std::nullopt;
}

Json recordJson(const SampleRecord& record)
{
    return {{"sample", record.index},
            {"sqnr_db", numberJson(record.sqnrDb)},
            {"signal", numberJson(record.signal)},
            {"noise", numberJson(record.noise)},
            {"label", classJson(record.label)},
            {"float_class", classJson(record.floatClass)},
            {"int8_class", classJson(record.int8Class)},
            {"changed", record.isChanged}};
}

SampleRecord recordOf(const Json& json)
{
    SampleRecord record;
    record.index = json.at("sample").get<std::int64_t>();
    record.signal = orInfinity(json, "signal");
    record.noise = orInfinity(json, "noise");
    record.sqnrDb = numberAt(json, "sqnr_db");
    record.label = classAt(json, "label");
    record.floatClass = classAt(json, "float_class");
    record.int8Class = classAt(json, "int8_class");
    record.isChanged = json.at("changed").get<bool>();
    return record;
}

Json countsJson(const PairCounts& counts)
{
    Json rows = Json::object();
    for (const auto& [row, columns] : counts)
        for (const auto& [column, count] : columns)
            rows[std::to_string(row)][std::to_string(column)] = count;
    return rows;
}

/// Empty if the text is not a whole number.
std::optional<std::int64_t> numberOf(const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                   : std::nullopt;
}

PairCounts countsOf(const Json& json)
{
    PairCounts counts;
    for (const auto& [row, columns] : json.items())
        for (const auto& [column, count] : columns.items()) {
            const auto first = numberOf(row), second = numberOf(column);
            if (const auto found = count.get<std::int64_t>(); first && second && found > 0)
                counts[*first][*second] = found;
        }
    return counts;
}

} // namespace

ResultDocument::Json sampleErrorsJson(const SampleErrorsPtr& errors)
{
    if (!errors)
        return nullptr;
    Json worst = Json::array();
    for (const SampleRecord& record : errors->worst)
        worst.push_back(recordJson(record));
    Json json {{"output", errors->output}, {"worst", std::move(worst)}, {"classes", nullptr}};
    if (const auto& classes = errors->classes)
        json["classes"] = {{"output", classes->output},
                           {"count", classes->classes},
                           {"not_a_number", classes->notANumber},
                           {"float_int8", countsJson(classes->floatInt8)},
                           {"label_float", countsJson(classes->labelFloat)},
                           {"label_int8", countsJson(classes->labelInt8)}};
    return json;
}

SampleErrorsPtr sampleErrorsFromJson(const ResultDocument::Json* json)
{
    if (!json)
        return nullptr;
    auto errors = std::make_shared<SampleErrors>();
    errors->output = json->at("output").get<std::string>();
    for (const Json& record : json->at("worst"))
        errors->worst.push_back(recordOf(record));
    if (const Json* found = memberOf(*json, "classes")) {
        ClassCounts& classes = errors->classes.emplace();
        classes.output = found->at("output").get<std::string>();
        classes.classes = found->at("count").get<std::int64_t>();
        classes.notANumber = found->at("not_a_number").get<std::int64_t>();
        classes.floatInt8 = countsOf(found->at("float_int8"));
        classes.labelFloat = countsOf(found->at("label_float"));
        classes.labelInt8 = countsOf(found->at("label_int8"));
    }
    return errors;
}

} // namespace qs
