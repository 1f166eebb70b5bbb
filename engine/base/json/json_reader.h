// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace qs {

using Json = nlohmann::ordered_json;

/// A value in a JSON file with its path for users ("qconfigs.act7.weight"). Borrows the document.
class JsonPlace
{
public:
    JsonPlace(const Json& value, std::string file, std::string path)
        : m_value(&value)
        , m_file(std::move(file))
        , m_path(std::move(path))
    {
    }
    const Json& value() const { return *m_value; }
    const std::string& file() const { return m_file; }
    const std::string& path() const { return m_path; }
    JsonPlace key(const std::string& name) const;
    JsonPlace item(std::size_t index) const;
    bool has(const char* name) const { return m_value->is_object() && m_value->contains(name); }

    /// Returns an error at this place: "file: path: message; hint".
    tl::unexpected<Error> error(const std::string& message, std::string hint = {}) const;
    /// Fails if the value is not an object or has other keys than these.
    Result<void> object(const std::vector<std::string>& allowedKeys) const;
    Result<void> array() const;
    Result<std::string> string() const;
    Result<std::int64_t> integer() const;
    Result<double> number() const;
    Result<bool> boolean() const;
    /// Returns a list of strings.
    Result<std::vector<std::string>> strings() const;

private:
    const Json* m_value;
    std::string m_file;
    std::string m_path;
};

/// Reads the members of a list with `read`. Fails if the value is not a list, or with the first
/// error of `read`.
template<class Read>
auto readList(const JsonPlace& list, const Read& read)
{
    using Member = typename std::invoke_result_t<const Read&, const JsonPlace&>::value_type;
    const auto readAll = [&]() -> Result<std::vector<Member>> {
        QS_CHECK(list.array());
        std::vector<Member> members;
        for (std::size_t i = 0; i < list.value().size(); ++i) {
            QS_TRY(Member member, read(list.item(i)));
            members.push_back(std::move(member));
        }
        return members;
    };
    return readAll();
}

/// Replaces comments (// and /* */) and trailing commas by blanks, so that users may write both.
/// Positions reported by `parseJson` remain correct.
std::string withoutComments(std::string text);

/// Parses JSON; the error names the line and column.
Result<Json> parseJson(const std::string& text, const std::string& file);
/// Returns the whole file as text. NotFound or Io errors name it.
Result<std::string> readTextFile(const std::string& path);
/// Checks the keys `format` and `version` of a document of this program.
Result<void> checkFormat(const JsonPlace& root, const std::string& format, int version);

} // namespace qs
