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

/// A parsed result document: an object of the right format and version. An immutable value whose
/// copies share the content; never empty once it was read.
class ResultDocument
{
public:
    using Json = nlohmann::ordered_json;

    /// `path` is for errors, "" = the text has none. Errors: not a result document; Cancelled.
    static Result<ResultDocument> fromText(const std::string& text, const std::string& path = {},
                                           const JobContext& job = {});
    /// A file, or the `result.json` of a folder. Errors name it: NotFound; those of `fromText`.
    static Result<ResultDocument> read(const std::string& fileOrFolder, const JobContext& job = {});

    const Json& json() const { return *m_json; }
    const std::string& path() const { return m_path; }
    /// What `make` makes of the content. Errors name the file: those of `make`, and a key that is
    /// missing or of another type.
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

/// The member; null if it is absent or null, or `owner` is not an object.
const ResultDocument::Json* memberOf(const ResultDocument::Json& owner, const char* key);

/// The value of a key as text: a string as it is, else as JSON; "" where it is absent or null.
std::string fieldText(const ResultDocument::Json& json, const char* key);

/// The number under a key; nothing if it is absent or not a number, or `json` is not an object.
std::optional<double> numberAt(const ResultDocument::Json& json, const char* key);

/// One term of an error of a node, or of an output ("lowered"), whose terms stand beside its name.
/// Nothing where it has no number; `metric` as in the document.
std::optional<double> errorTerm(const ResultDocument::Json& owner, std::string_view term,
                                const char* metric = "sqnr_db");
inline std::optional<double> errorTerm(const ResultDocument::Json& owner, ErrorTerm term,
                                       const char* metric = "sqnr_db")
{
    return errorTerm(owner, errorTermName(term), metric);
}

} // namespace qs
