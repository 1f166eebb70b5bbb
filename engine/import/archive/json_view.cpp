// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/json_view.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace qs {

namespace dom = simdjson::dom;

namespace {

constexpr std::size_t kDeepest = 400;

/// Calls `visit(position)` for every character outside strings.
template<class Visit>
void forEachOutside(const std::string& text, Visit&& visit)
{
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"')
            inString = !inString;
        else if (inString && text[i] == '\\')
            ++i;
        else if (!inString)
            visit(i);
    }
}

bool isTooDeep(const std::string& text)
{
    std::size_t depth = 0, deepest = 0;
    forEachOutside(text, [&](std::size_t at) {
        if (text[at] == '{' || text[at] == '[')
            deepest = std::max(deepest, ++depth);
        else if ((text[at] == '}' || text[at] == ']') && depth > 0)
            --depth;
    });
    return deepest > kDeepest;
}

bool isWideInteger(std::string_view token)
{
    std::int64_t withSign = 0;
    std::uint64_t without = 0;
    const char *begin = token.data(), *end = begin + token.size();
    const auto asSigned = std::from_chars(begin, end, withSign);
    const auto asUnsigned = std::from_chars(begin, end, without);
    return asSigned.ec == std::errc::result_out_of_range && asSigned.ptr == end
        && (token.starts_with('-') || asUnsigned.ec == std::errc::result_out_of_range);
}

/// Rewrites integers beyond 64 bits as doubles, since Python writes integers of any length.
std::string withWideIntegersAsDoubles(const std::string& text)
{
    std::string out;
    std::size_t copied = 0, start = 0;
    const auto endToken = [&](std::size_t at) {
        if (isWideInteger(std::string_view(text).substr(start, at - start))) {
            out.append(text, copied, at - copied).append("e0");
            copied = at;
        }
        start = at + 1;
    };
    forEachOutside(text, [&](std::size_t at) {
        if (!std::strchr("+-.0123456789Ee", text[at]))
            endToken(at);
    });
    return out.append(text, copied);
}

std::optional<dom::element> lastMember(dom::element value, std::string_view key)
{
    std::optional<dom::element> found;
    dom::object object;
    if (value.get(object) == simdjson::SUCCESS)
        for (auto it = object.begin(); it != object.end(); ++it)
            if (it.key_equals(key))
                found = it.value();
    return found;
}

simdjson::error_code read(dom::document& document, const std::string& text)
{
    // Its buffers are much larger than the text: freeing them takes 100 ms for 20,000 operators.
    const auto parser = makeFreedLater<dom::parser>();
    if (const auto error = parser->allocate(text.size(), kDeepest + 1)) // 1 for the text itself
        return error;
    return parser->parse_into_document(document, text).error();
}

} // namespace

void JsonView::refuse(const char* wanted) const
{
    throw JsonShapeError(shortened(dump(), 60) + " is not " + wanted);
}

std::optional<JsonView> JsonView::find(std::string_view key) const
{
    const auto found = lastMember(m_value, key);
    return found && !found->is_null() ? std::optional(JsonView(*found)) : std::nullopt;
}

JsonView JsonView::at(std::string_view key) const
{
    if (const auto found = lastMember(m_value, key))
        return JsonView(*found);
    refuse(("an object with '" + std::string(key) + "'").c_str());
}

JsonItems JsonView::items() const
{
    dom::array items;
    if (m_value.get(items) != simdjson::SUCCESS)
        refuse("a list");
    return JsonItems(items);
}

JsonMembers JsonView::members() const
{
    dom::object members;
    if (m_value.get(members) != simdjson::SUCCESS)
        refuse("an object");
    return JsonMembers(members);
}

std::int64_t JsonView::integer() const
{
    std::int64_t whole = 0;
    if (m_value.get(whole) == simdjson::SUCCESS)
        return whole;
    constexpr double kEnd = 9223372036854775808.0; // 2^63
    double number = 0;
    if (!m_value.is_double() || m_value.get(number) != simdjson::SUCCESS || number < -kEnd
        || number >= kEnd)
        refuse("a whole number of 64 bits");
    return std::int64_t(number);
}

int JsonView::smallInteger() const
{
    const std::int64_t whole = integer();
    if (whole < std::numeric_limits<int>::min() || whole > std::numeric_limits<int>::max())
        refuse("a whole number of 32 bits");
    return int(whole);
}

double JsonView::number() const
{
    double number = 0;
    if (m_value.get(number) != simdjson::SUCCESS)
        refuse("a number");
    return number;
}

bool JsonView::boolean() const
{
    bool value = false;
    if (m_value.get(value) != simdjson::SUCCESS)
        refuse("true or false");
    return value;
}

std::string_view JsonView::text() const
{
    std::string_view text;
    if (m_value.get(text) != simdjson::SUCCESS)
        refuse("a text");
    return text;
}

std::string_view JsonView::text(std::string_view key, std::string_view otherwise) const
{
    const auto found = find(key);
    return found ? found->text() : otherwise;
}

bool JsonView::boolean(std::string_view key, bool otherwise) const
{
    const auto found = find(key);
    return found ? found->boolean() : otherwise;
}

std::string JsonView::dump() const
{
    return simdjson::minify(m_value);
}

Result<JsonDocument> JsonDocument::parse(std::string text, const std::string& name)
{
    // UTF-8 byte order mark, written by some editors.
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark))
        text.erase(0, kMark.size());
    JsonDocument made;
    made.m_document = std::make_unique<dom::document>();
    auto error = read(*made.m_document, text);
    if (error == simdjson::NUMBER_ERROR)
        error = read(*made.m_document, withWideIntegersAsDoubles(text));
    if (error == simdjson::SUCCESS)
        return made;
    // simdjson reports both truncated and too deep text; counting distinguishes them.
    if (error == simdjson::DEPTH_ERROR || isTooDeep(text))
        return fail(ErrorCode::BadInput, name + " is nested too deeply");
    if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY)
        return fail(ErrorCode::BadInput, name + " is too large to read");
    return fail(ErrorCode::BadInput,
                name + " is not valid JSON (" + simdjson::error_message(error) + ")");
}

} // namespace qs
