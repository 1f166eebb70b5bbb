// SPDX-License-Identifier: Apache-2.0
#include "engine/result/result_document.h"

#include "engine/base/files/read_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/memory/free_later.h"

#include <filesystem>

namespace qs {

namespace {

Error notResult(const std::string& why, const std::string& path)
{
    return makeError(ErrorCode::BadInput, "not a result of quantscope: " + why)
        .inFile(path)
        .withHint("make one with 'quantscope quantize'");
}

struct ParsingStopped
{
};

/// Returns a discarded value if the text is not JSON. Throws ParsingStopped after a cancel.
Json parsed(const std::string& text, const JobContext& job)
{
    if (isDeepJson(text))
        return {Json::value_t::discarded};
    const auto keepsAll = [&job](int, Json::parse_event_t event, Json&) {
        if (event == Json::parse_event_t::object_end && job.cancelled())
            throw ParsingStopped {};
        return true;
    };
    return Json::parse(text, keepsAll, false);
}

} // namespace

Result<ResultDocument> ResultDocument::fromText(const std::string& text, const std::string& path,
                                                const JobContext& job)
try {
    const std::shared_ptr<const Json> json(new Json(parsed(text, job)), FreeLater());
    if (json->is_discarded())
        return fail(notResult("it is not JSON", path));
    if (!json->is_object() || fieldText(*json, "format") != "quantscope.result")
        return fail(notResult("its format is not \"quantscope.result\"", path));
    if (numberAt(*json, "version") != 1)
        return fail(notResult("its version is not 1", path));
    ResultDocument out;
    out.m_json = json;
    out.m_path = path;
    return out;
} catch (const ParsingStopped&) {
    return fail(ErrorCode::Cancelled, "cancelled");
}

Result<ResultDocument> ResultDocument::read(const std::string& fileOrFolder, const JobContext& job)
{
    namespace fs = std::filesystem;
    std::error_code code;
    const bool isFolder = fs::is_directory(fileOrFolder, code);
    const std::string path
        = isFolder ? (fs::path(fileOrFolder) / "result.json").string() : fileOrFolder;
    const auto text = readTextFile(path);
    if (!text && text.error().code == ErrorCode::NotFound)
        return fail(makeError(ErrorCode::NotFound, "there is no such result")
                        .inFile(path)
                        .withHint("make one with 'quantscope quantize'"));
    QS_CHECK(text);
    return fromText(*text, path, job);
}

Result<void> ResultDocument::guarded(const std::function<void()>& make) const
try {
    make();
    return {};
} catch (const Json::exception&) {
    return fail(notResult("a key is missing or of the wrong type", m_path));
}

const Json* memberOf(const Json& owner, const char* key)
{
    const auto it = owner.find(key); // end() if it is not an object
    return it == owner.end() || it->is_null() ? nullptr : &*it;
}

std::string fieldText(const Json& json, const char* key)
{
    const Json* value = memberOf(json, key);
    return !value ? std::string() : value->is_string() ? value->get<std::string>() : value->dump();
}

std::optional<double> numberAt(const Json& json, const char* key)
{
    const Json* value = memberOf(json, key);
    return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<double> errorTerm(const Json& owner, std::string_view term, const char* metric)
{
    const auto error = owner.find("error");
    const Json& terms = error == owner.end() ? owner : *error;
    const auto found = terms.find(term);
    return found == terms.end() ? std::nullopt : numberAt(*found, metric);
}

} // namespace qs
