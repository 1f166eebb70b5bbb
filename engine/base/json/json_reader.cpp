// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_reader.h"

#include "engine/base/files/read_file.h"
#include "engine/base/json/nearest_name.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>

namespace qs {

namespace {

std::string typeName(const Json& value)
{
    if (value.is_null())
        return "null";
    if (value.is_array())
        return "a list";
    return (value.is_object() ? "an " : "a ") + std::string(value.type_name());
}

std::string lineAndColumn(const std::string& text, std::size_t byte)
{
    const std::size_t end = std::min(byte ? byte - 1 : 0, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n');
    const auto start = text.rfind('\n', end ? end - 1 : 0);
    const std::size_t column = start == std::string::npos ? end + 1 : end - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Parser callback that detects duplicate keys in an object, of which JSON would use the last.
class RepeatedKey
{
public:
    bool operator()(int, Json::parse_event_t event, Json& parsed)
    {
        using Event = Json::parse_event_t;
        if (event == Event::object_start)
            m_open.emplace_back();
        else if (event == Event::object_end)
            m_open.pop_back();
        else if (event == Event::key && !m_open.back().insert(parsed.get<std::string>()).second)
            m_key = parsed.get<std::string>();
        return true;
    }
    /// The last duplicate key.
    const std::optional<std::string>& key() const { return m_key; }

private:
    std::vector<std::set<std::string>> m_open;
    std::optional<std::string> m_key;
};

} // namespace

JsonPlace JsonPlace::key(const std::string& name) const
{
    return {m_value->at(name), m_file, m_path.empty() ? name : m_path + "." + name};
}

JsonPlace JsonPlace::item(std::size_t index) const
{
    return {m_value->at(index), m_file, m_path + "[" + std::to_string(index) + "]"};
}

tl::unexpected<Error> JsonPlace::error(const std::string& message, std::string hint) const
{
    return fail(makeError(ErrorCode::BadInput, m_path.empty() ? message : m_path + ": " + message)
                    .inFile(m_file)
                    .withHint(std::move(hint)));
}

Result<void> JsonPlace::object(const std::vector<std::string>& allowedKeys) const
{
    if (!m_value->is_object())
        return error("expected an object, not " + typeName(*m_value));
    for (const auto& [name, value] : m_value->items())
        if (std::find(allowedKeys.begin(), allowedKeys.end(), name) == allowedKeys.end())
            return error("unknown key '" + name + "'", suggestName(name, allowedKeys));
    return {};
}

Result<void> JsonPlace::array() const
{
    if (!m_value->is_array())
        return error("expected a list, not " + typeName(*m_value));
    return {};
}

Result<std::string> JsonPlace::string() const
{
    if (!m_value->is_string())
        return error("expected a string, not " + typeName(*m_value));
    return m_value->get<std::string>();
}

Result<std::int64_t> JsonPlace::integer() const
{
    if (!m_value->is_number_integer())
        return error("expected an integer, not " + typeName(*m_value));
    return m_value->get<std::int64_t>();
}

Result<double> JsonPlace::number() const
{
    if (!m_value->is_number())
        return error("expected a number, not " + typeName(*m_value));
    return m_value->get<double>();
}

Result<bool> JsonPlace::boolean() const
{
    if (!m_value->is_boolean())
        return error("expected true or false, not " + typeName(*m_value));
    return m_value->get<bool>();
}

Result<std::vector<std::string>> JsonPlace::strings() const
{
    return readList(*this, [](const JsonPlace& place) { return place.string(); });
}

std::string withoutComments(std::string text)
{
    std::size_t comma = std::string::npos; // position of the last comma if only blanks follow
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i)
                i += text[i] == '\\';
            comma = std::string::npos;
        } else if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
            const bool isLine = text[i + 1] == '/';
            const std::size_t end = text.find(isLine ? "\n" : "*/", i + 2);
            const std::size_t past
                = end == std::string::npos ? text.size() : end + (isLine ? 0 : 2);
            for (; i < past; ++i)
                if (text[i] != '\n')
                    text[i] = ' ';
            --i;
        } else if (c == ',') {
            comma = i;
        } else if ((c == '}' || c == ']') && comma != std::string::npos) {
            text[comma] = ' ';
            comma = std::string::npos;
        } else if (c > ' ') {
            comma = std::string::npos;
        }
    }
    return text;
}

Result<Json> parseJson(const std::string& text, const std::string& file)
{
    RepeatedKey repeated;
    if (isDeepJson(text))
        return fail(makeError(ErrorCode::BadInput, "its lists and objects are nested too deeply")
                        .inFile(file));
    try {
        Json parsed = Json::parse(text, std::ref(repeated));
        if (repeated.key())
            return fail(makeError(ErrorCode::BadInput,
                                  "duplicate key '" + *repeated.key() + "' in one object")
                            .inFile(file)
                            .withHint("remove one of them"));
        return parsed;
    } catch (const nlohmann::json::parse_error& problem) {
        std::string cause = problem.what();
        const auto last = cause.rfind("; ");
        cause = last == std::string::npos ? "bad syntax" : cause.substr(last + 2);
        for (char& c : cause) // it quotes the file, which may be binary
            if (c < ' ' || c > '~')
                c = '?';
        return fail(makeError(ErrorCode::BadInput,
                              "not JSON: " + lineAndColumn(text, problem.byte) + ": " + cause)
                        .inFile(file));
    } catch (const nlohmann::json::out_of_range&) {
        return fail(makeError(ErrorCode::BadInput, "a number in it is too large").inFile(file));
    }
}

Result<std::string> readTextFile(const std::string& path)
{
    constexpr std::uint64_t kMost = std::uint64_t(256) << 20;
    return readWholeFile(path, kMost);
}

Result<void> checkFormat(const JsonPlace& root, const std::string& format, int version)
{
    if (!root.value().is_object())
        return root.error("expected a JSON object");
    if (!root.has("format"))
        return root.error("the key 'format' is missing",
                          "start with {\"format\": \"" + format
                              + "\", \"version\": " + std::to_string(version) + ", ...");
    QS_TRY(const std::string given, root.key("format").string());
    if (given != format)
        return root.error("the format is '" + given + "'", "expected '" + format + "'");
    if (!root.has("version"))
        return root.error("the key 'version' is missing",
                          "this program reads version " + std::to_string(version));
    QS_TRY(const std::int64_t number, root.key("version").integer());
    if (number != version)
        return root.error("version " + std::to_string(number) + " is not known",
                          "this program reads version " + std::to_string(version));
    return {};
}

} // namespace qs
