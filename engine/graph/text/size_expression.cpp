// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/size_expression.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace qs {

namespace {

using Symbols = std::map<std::string, std::int64_t>;
constexpr int kMaxExpressionDepth = 100;

/// Recursive-descent evaluator: sums of products of numbers, symbols and parentheses.
class SizeReader
{
public:
    SizeReader(const std::string& text, const Symbols& symbols)
        : m_text(text)
        , m_symbols(symbols)
    {
    }
    std::optional<std::int64_t> whole()
    {
        const auto value = sum(0);
        skipSpace();
        return value && m_at == m_text.size() ? value : std::nullopt;
    }

private:
    using Number = std::optional<std::int64_t>;

    void skipSpace()
    {
        while (m_at < m_text.size() && m_text[m_at] == ' ')
            ++m_at;
    }
    bool take(std::string_view sign)
    {
        skipSpace();
        if (m_text.compare(m_at, sign.size(), sign) != 0)
            return false;
        m_at += sign.size();
        return true;
    }
    Number sum(int depth)
    {
        Number value = product(depth);
        while (value) {
            const bool minus = take("-");
            if (!minus && !take("+"))
                return value;
            const Number next = product(depth);
            std::int64_t result = 0;
            if (!next
                || (minus ? __builtin_sub_overflow(*value, *next, &result)
                          : __builtin_add_overflow(*value, *next, &result)))
                return {};
            value = result;
        }
        return value;
    }
    Number product(int depth)
    {
        Number value = atom(depth);
        while (value) {
            if (take("**"))
                return {}; // powers are not supported
            const char sign = take("//") ? '/' : take("%") ? '%' : take("*") ? '*' : ' ';
            if (sign == ' ')
                return value;
            const Number next = atom(depth);
            std::int64_t result = 0;
            if (!next || (sign != '*' && *next == 0)
                || (sign == '*' && __builtin_mul_overflow(*value, *next, &result)))
                return {};
            if (sign != '*') {
                if (*value == INT64_MIN && *next == -1) // overflows
                    return {};
                const std::int64_t left = *value % *next;
                const bool rounds = left != 0 && (left < 0) != (*next < 0); // as Python does
                result = sign == '%' ? left + (rounds ? *next : 0) : *value / *next - rounds;
            }
            value = result;
        }
        return value;
    }
    Number atom(int depth)
    {
        if (depth > kMaxExpressionDepth)
            return {};
        if (take("(")) {
            const Number value = sum(depth + 1);
            return take(")") ? value : Number();
        }
        if (take("-")) {
            const Number value = atom(depth + 1);
            return value && *value != INT64_MIN ? Number(-*value) : Number();
        }
        skipSpace();
        std::string word;
        while (m_at < m_text.size()
               && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_'))
            word += m_text[m_at++];
        if (isSizeName(word)) {
            const auto it = m_symbols.find(word);
            return it == m_symbols.end() ? Number() : Number(it->second);
        }
        if (word.empty() || word.size() > 18
            || !std::all_of(word.begin(), word.end(),
                            [](unsigned char c) { return std::isdigit(c); }))
            return {};
        return std::stoll(word);
    }

    const std::string& m_text;
    const Symbols& m_symbols;
    std::size_t m_at = 0;
};

} // namespace

bool isSizeName(const std::string& text)
{
    return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]))
        && std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::optional<std::int64_t> evaluateSize(const std::string& expression, const Symbols& symbols)
{
    return SizeReader(expression, symbols).whole();
}

std::int64_t tensorBytes(const ValueType& type, const Symbols& symbols)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return 0;
    std::int64_t bytes = dtypeSize(type.dtype);
    for (const Dim& dim : type.shape) {
        const auto size
            = dim.isSymbolic() ? evaluateSize(dim.symbol, symbols) : std::optional(dim.size);
        bytes *= std::max<std::int64_t>(size.value_or(dim.size), 0);
    }
    return bytes;
}

} // namespace qs
