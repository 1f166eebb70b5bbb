// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace qs {

namespace {

std::string formatted(double value, std::chars_format format, int precision)
{
    std::array<char, 400> text; // the largest double has 309 digits before the decimal point
    const auto end
        = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
    return {text.data(), end.ptr};
}

} // namespace

std::string numberText(double value, int digits)
{
    return formatted(value, std::chars_format::general, digits);
}

std::string fixedText(double value, int decimals)
{
    return formatted(value, std::chars_format::fixed, decimals);
}

std::string bytesText(double bytes)
{
    constexpr std::array kUnits {" B", " kB", " MB", " GB", " TB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit)
        bytes /= 1000;
    return fixedText(bytes, unit == 0 ? 0 : 1) + kUnits[unit];
}

std::string counted(std::int64_t count, const std::string& noun)
{
    const char* ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
    return std::to_string(count) + " " + noun + ending;
}

std::string inQuotes(const std::string& text)
{
    return "'" + text + "'";
}

std::string quotedNames(const std::vector<std::string>& names)
{
    constexpr std::size_t kNamed = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
        text += (i ? ", " : "") + inQuotes(names[i]);
    if (names.size() > kNamed)
        text += " and " + std::to_string(names.size() - kNamed) + " more";
    return text;
}

std::string lastPart(std::string_view name)
{
    return std::string(name.substr(name.rfind('.') + 1));
}

namespace {

/// Returns the number of bytes of the character at `at`; 0 for invalid UTF-8.
std::size_t lengthOfCharacter(std::string_view text, std::size_t at, std::uint32_t& code)
{
    const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[i])); };
    const std::uint32_t first = byte(at);
    const std::size_t length = first < 0x80 ? 1
        : (first >> 5) == 6                 ? 2
        : (first >> 4) == 14                ? 3
        : (first >> 3) == 30                ? 4
                                            : 0;
    if (length == 0 || at + length > text.size())
        return 0;
    code = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80)
            return 0;
        code = (code << 6) | (byte(at + i) & 0x3F);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    return code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0
                                                                                         : length;
}

bool isControl(std::uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0)
        || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E)
        || (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::string_view trimmed(std::string_view text, std::string_view ends)
{
    const auto first = text.find_first_not_of(ends);
    return first == std::string_view::npos
        ? std::string_view()
        : text.substr(first, text.find_last_not_of(ends) - first + 1);
}

std::string printable(std::string text)
{
    const auto isPlain = [](char c) { return (c >= ' ' && c < 0x7F) || c == '\n' || c == '\t'; };
    if (std::all_of(text.begin(), text.end(), isPlain))
        return text;
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        std::uint32_t code = 0;
        const std::size_t length = lengthOfCharacter(text, at, code);
        if (length == 0 || isControl(code))
            out += '?';
        else
            out.append(text, at, length);
        at += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::string asOneLine(std::string text)
{
    constexpr std::size_t kBegin = 3000, kEnd = 1000;
    if (text.size() > kBegin + kEnd)
        text.replace(kBegin, text.size() - kBegin - kEnd, " ... ");
    for (char& c : text)
        if (c == '\n' || c == '\r' || c == '\t')
            c = ' ';
    return printable(std::move(text));
}

std::string shortened(std::string text, std::size_t longest)
{
    if (text.size() > longest)
        text.replace(longest, std::string::npos, "...");
    return text;
}

std::string escapeHtml(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

} // namespace qs
