// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/page_template.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/result_document.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = ResultDocument::Json;

/// Text of a value in the format `way`, which may contain a number of decimals; null means nothing.
std::string shown(const Json* value, std::string_view way)
{
    const std::string text = !value || value->is_null() ? std::string()
        : value->is_string()                            ? value->get<std::string>()
                                                        : value->dump();
    const bool isNumber = value && value->is_number();
    const double number = isNumber ? value->get<double>() : 0;
    const std::size_t digit = way.find_first_of("0123456789");
    const int decimals = digit == std::string_view::npos ? 0 : way[digit] - '0';
    if (way.starts_with("count "))
        return counted(std::int64_t(number), std::string(way.substr(6)));
    if (way == "db")
        return sqnrCell(isNumber ? std::optional(number) : std::nullopt);
    if (way.starts_with("sqnr"))
        return sqnrText(number, decimals, " dB");
    if (way.starts_with("fixed"))
        return isNumber ? fixedText(number, decimals) : "-";
    if (way.starts_with("percent"))
        return isNumber ? fixedText(100 * number, decimals) + " %" : "-";
    return way == "raw" ? text : way == "dash" && text.empty() ? "-" : escapeHtml(text);
}

bool holdsNothing(const Json* value)
{
    return !value || value->is_null() || *value == false || *value == ""
        || (value->is_structured() && value->empty());
}

class Filler
{
public:
    Filler(std::string_view text, const Json& values)
        : m_text(text)
        , m_values(values)
    {
    }

    std::string run()
    {
        fill(0, m_values, true);
        return std::move(m_out);
    }

private:
    /// Fills from `at` to the end of the block or of the text; returns the position after it.
    std::size_t fill(std::size_t at, const Json& here, bool isShown)
    {
        for (;;) {
            const std::size_t open = std::min(m_text.find("{{", at), m_text.size());
            if (isShown)
                m_out += m_text.substr(at, open - at);
            const std::size_t close = m_text.find("}}", open);
            if (close == std::string_view::npos)
                return m_text.size();
            const std::string_view tag = m_text.substr(open + 2, close - open - 2);
            at = close + 2;
            if (tag == "/")
                return at;
            if (std::string_view("#?^*").find(tag.front()) != std::string_view::npos)
                at = block(at, tag, here, isShown);
            else if (isShown) {
                const std::size_t bar = std::min(tag.find('|'), tag.size());
                m_out += shown(find(tag.substr(0, bar), here),
                               tag.substr(std::min(bar + 1, tag.size())));
            }
        }
    }

    std::size_t block(std::size_t at, std::string_view tag, const Json& here, bool isShown)
    {
        const Json* value = find(tag.substr(1), here);
        if (!isShown || holdsNothing(value) != (tag.front() == '^'))
            return fill(at, here, false);
        std::size_t end = at;
        if (tag.front() == '#' && value->is_array())
            for (const Json& item : *value)
                end = fill(at, item, true);
        else if (tag.front() == '*')
            for (const auto& [key, member] : value->items())
                end = fill(at, {{"key", key}, {"value", member}}, true);
        else
            end = fill(at, tag.front() == '#' && value->is_object() ? *value : here, true);
        return end;
    }

    /// The member at a dotted path, relative to `here`; null if it is absent.
    const Json* find(std::string_view path, const Json& here) const
    {
        const Json* found = &here;
        for (std::size_t at = 0; found && at < path.size();) {
            const std::size_t dot = std::min(path.find('.', at), path.size());
            const std::string name(path.substr(at, dot - at));
            at = dot + 1;
            if (name == "$")
                found = &m_values;
            else if (!name.empty())
                found = memberOf(*found, name.c_str());
        }
        return found;
    }

    std::string_view m_text;
    const Json& m_values;
    std::string m_out;
};

} // namespace

std::string filled(const std::string& text, const nlohmann::ordered_json& values)
{
    return Filler(text, values).run();
}

} // namespace qs
