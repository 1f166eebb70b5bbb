// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/text_lexer.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace qs {

namespace {

bool isTokenCharacter(char c)
{
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
}

int hexDigit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

} // namespace

void TextLexer::skipBlanks()
{
    while (m_at < m_line.size() && m_line[m_at] == ' ')
        ++m_at;
}

bool TextLexer::atEnd()
{
    skipBlanks();
    return m_at >= m_line.size();
}

bool TextLexer::take(std::string_view token)
{
    skipBlanks();
    if (!m_line.substr(m_at).starts_with(token))
        return false;
    m_at += token.size();
    return true;
}

std::optional<std::string> TextLexer::word()
{
    skipBlanks();
    const std::size_t start = m_at;
    while (m_at < m_line.size() && isTokenCharacter(m_line[m_at]))
        ++m_at;
    if (start == m_at)
        return std::nullopt;
    return std::string(m_line.substr(start, m_at - start));
}

std::optional<std::string> TextLexer::string()
{
    skipBlanks();
    std::size_t i = m_at;
    if (i >= m_line.size() || m_line[i] != '"')
        return std::nullopt;
    std::string out;
    for (++i; i < m_line.size() && m_line[i] != '"'; ++i) {
        if (m_line[i] != '\\') {
            out += m_line[i];
            continue;
        }
        if (++i >= m_line.size())
            return std::nullopt;
        const char c = m_line[i];
        if (c == 'x') {
            if (i + 2 >= m_line.size() || hexDigit(m_line[i + 1]) < 0
                || hexDigit(m_line[i + 2]) < 0)
                return std::nullopt;
            out += char(hexDigit(m_line[i + 1]) * 16 + hexDigit(m_line[i + 2]));
            i += 2;
        } else {
            out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
    }
    if (i >= m_line.size())
        return std::nullopt;
    m_at = i + 1;
    return out;
}

std::optional<std::string> TextLexer::name()
{
    auto text = string();
    return text ? text : word();
}

std::optional<TextLexer::Number> TextLexer::number()
{
    skipBlanks();
    const std::string_view rest = m_line.substr(m_at);
    const double inf = std::numeric_limits<double>::infinity();
    for (const auto& [token, value] : {std::pair<std::string_view, double> {"inf", inf},
                                       {"-inf", -inf},
                                       {"nan", std::numeric_limits<double>::quiet_NaN()}})
        if (rest.starts_with(token)
            && (rest.size() == token.size() || !isTokenCharacter(rest[token.size()]))) {
            m_at += token.size();
            return Number {false, 0, value};
        }
    if (rest.empty() || (rest[0] != '-' && !std::isdigit(static_cast<unsigned char>(rest[0]))))
        return std::nullopt;
    Number number;
    const char* end = rest.data() + rest.size();
    const auto asInteger = std::from_chars(rest.data(), end, number.integer);
    const auto asReal = std::from_chars(rest.data(), end, number.real);
    if (asReal.ec != std::errc())
        return std::nullopt;
    number.isInteger = asInteger.ec == std::errc() && asInteger.ptr == asReal.ptr;
    m_at += std::size_t(asReal.ptr - rest.data());
    return number;
}

std::optional<std::int64_t> TextLexer::integer()
{
    const std::size_t start = m_at;
    const auto read = number();
    if (read && read->isInteger)
        return read->integer;
    m_at = start;
    return std::nullopt;
}

} // namespace qs
