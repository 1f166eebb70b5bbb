// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/result_document.h"

#include "engine/base/files/read_file.h"
#include "engine/configure/json/json_reader.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

namespace {

Error notResult(const std::string& path)
{
    return makeError(ErrorCode::BadInput, "not a result of quantscope")
        .inFile(path)
        .withHint("make one with 'quantscope quantize'");
}

struct ParsingStopped
{
};

/// Discarded if the text is not JSON. Throws ParsingStopped after a cancel.
ResultDocument parsed(const std::string& text, const JobContext& job)
{
    if (isDeepJson(text))
        return {ResultDocument::value_t::discarded};
    const auto keepsAll = [&job](int, ResultDocument::parse_event_t event, ResultDocument&) {
        if (event == ResultDocument::parse_event_t::object_end && job.cancelled())
            throw ParsingStopped {};
        return true;
    };
    return ResultDocument::parse(text, keepsAll, false);
}

} // namespace

Result<std::string>
fromResultFolder(const std::string& folder,
                 const std::function<Result<std::string>(const ResultDocument&)>& make,
                 const JobContext& job)
try {
    const std::string path = (std::filesystem::path(folder) / "result.json").string();
    auto text = readTextFile(path);
    if (!text && text.error().code == ErrorCode::NotFound)
        return fail(makeError(ErrorCode::NotFound, "there is no result")
                        .inFile(path)
                        .withHint("make one with 'quantscope quantize'"));
    QS_CHECK(text);
    const ResultDocument result = parsed(*text, job);
    if (result.is_discarded() || !result.is_object()
        || fieldText(result, "format") != "quantscope.result")
        return fail(notResult(path));
    try {
        return make(result);
    } catch (const ResultDocument::exception&) { // a key is missing or of another type
        return fail(notResult(path));
    }
} catch (const ParsingStopped&) {
    return fail(ErrorCode::Cancelled, "cancelled");
}

std::string fieldText(const ResultDocument& json, const char* key)
{
    const auto it = json.find(key);
    if (it == json.end() || it->is_null())
        return {};
    return it->is_string() ? it->get<std::string>() : it->dump();
}

std::optional<double> numberAt(const ResultDocument& json, const char* key)
{
    const auto it = json.find(key); // the end of what is not an object
    return it != json.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

bool isAgainstOriginal(const ResultDocument& json)
{
    return fieldText(json, "against") == "original";
}

std::optional<double> errorTerm(const ResultDocument& owner, const char* term, const char* metric)
{
    const auto error = owner.find("error");
    const ResultDocument& terms = error == owner.end() ? owner : *error;
    if (!terms.is_object() || !terms.contains(term) || !terms[term].is_object())
        return std::nullopt;
    return numberAt(terms[term], metric);
}

} // namespace qs
