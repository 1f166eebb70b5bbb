// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Tokenizes one line of the graph text. A method that finds no match does not advance.
class TextLexer
{
public:
    explicit TextLexer(std::string_view line)
        : m_line(line)
    {
    }
    bool atEnd();
    /// Skips blanks, then consumes exactly `token`.
    bool take(std::string_view token);
    /// Letters, digits and underscores.
    std::optional<std::string> word();
    /// A quoted string, unescaped.
    std::optional<std::string> string();
    /// A word or a quoted string.
    std::optional<std::string> name();
    std::optional<std::int64_t> integer();
    /// Any number: an integer when it is written as one.
    struct Number
    {
        bool isInteger = false;
        std::int64_t integer = 0;
        double real = 0;
    };
    std::optional<Number> number();

private:
    void skipBlanks();

    std::string_view m_line;
    std::size_t m_at = 0;
};

} // namespace qs
