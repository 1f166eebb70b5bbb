// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/comparison.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// A parsed result document: an object of the right format and version. An immutable value type
/// whose copies share the content; never empty after reading.
class ResultDocument
{
public:
    using Json = nlohmann::ordered_json;

    /// `path` is for errors, "" = none. Fails if the text is not a result document; Cancelled.
    static Result<ResultDocument> fromText(const std::string& text, const std::string& path = {},
                                           const JobContext& job = {});
    /// Reads a file, or the `result.json` of a folder. Errors name it: NotFound; those of
    /// `fromText`.
    static Result<ResultDocument> read(const std::string& fileOrFolder, const JobContext& job = {});

    const Json& json() const { return *m_json; }
    const std::string& path() const { return m_path; }
    /// Returns the result of `make` for the content. Errors name the file: those of `make`, or a
    /// key that is missing or has another type.
    template<class T>
    Result<T> made(const std::function<Result<T>(const Json&)>& make) const
    {
        std::optional<Result<T>> out;
        QS_CHECK(guarded([&] { out = make(*m_json); }));
        if (!*out)
            return fail(std::move(*out).error().inFile(m_path));
        return std::move(*out);
    }

private:
    Result<void> guarded(const std::function<void()>& make) const;

    std::shared_ptr<const Json> m_json;
    std::string m_path;
};

/// Returns the member; null if it is absent or null, or if `owner` is not an object.
const ResultDocument::Json* memberOf(const ResultDocument::Json& owner, const char* key);

/// Returns the value of a key as text: strings unquoted, others as JSON; "" if absent or null.
std::string fieldText(const ResultDocument::Json& json, const char* key);

/// Returns the number under a key; nullopt if it is absent or not a number, or if `json` is not an
/// object.
std::optional<double> numberAt(const ResultDocument::Json& json, const char* key);

/// Returns one error term of a node, or of an output ("lowered"), whose terms are direct members.
/// nullopt without a number; `metric` as in the document.
std::optional<double> errorTerm(const ResultDocument::Json& owner, std::string_view term,
                                const char* metric = "sqnr_db");
inline std::optional<double> errorTerm(const ResultDocument::Json& owner, ErrorTerm term,
                                       const char* metric = "sqnr_db")
{
    return errorTerm(owner, errorTermName(term), metric);
}

} // namespace qs
