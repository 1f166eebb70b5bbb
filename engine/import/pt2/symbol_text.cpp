// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/symbol_text.h"

#include <cctype>
#include <optional>
#include <vector>

namespace qs {

namespace {

constexpr int kMaxSymbolDepth = 100;

struct Term
{
    std::string text;
    int binding = 3; ///< precedence for parentheses: 1 sum, 2 product, 3 atom
    bool keyword = false; ///< `positive=True`: an assumption, not an operand
};

class Reader
{
public:
    explicit Reader(std::string_view text)
        : m_text(text)
    {
    }
    std::optional<Term> whole()
    {
        auto term = expression(0);
        skipSpace();
        return term && m_at == m_text.size() ? term : std::nullopt;
    }

private:
    void skipSpace()
    {
        while (m_at < m_text.size() && m_text[m_at] == ' ')
            ++m_at;
    }
    bool take(char c)
    {
        skipSpace();
        if (m_at >= m_text.size() || m_text[m_at] != c)
            return false;
        ++m_at;
        return true;
    }
    std::optional<Term> expression(int depth)
    {
        if (depth > kMaxSymbolDepth)
            return std::nullopt;
        if (take('\'')) {
            const auto end = m_text.find('\'', m_at);
            if (end == std::string_view::npos)
                return std::nullopt;
            Term term {std::string(m_text.substr(m_at, end - m_at))};
            m_at = end + 1;
            return term;
        }
        skipSpace();
        std::string word;
        while (m_at < m_text.size()
               && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_'
                   || m_text[m_at] == '.' || m_text[m_at] == '-'))
            word += m_text[m_at++];
        if (word.empty())
            return std::nullopt;
        if (take('=')) {
            auto value = expression(depth + 1);
            if (!value)
                return std::nullopt;
            return Term {word + "=" + value->text, 3, true};
        }
        if (!take('('))
            return Term {word};
        std::vector<Term> operands;
        if (!take(')')) {
            do {
                auto operand = expression(depth + 1);
                if (!operand)
                    return std::nullopt;
                if (!operand->keyword)
                    operands.push_back(std::move(*operand));
            } while (take(','));
            if (!take(')'))
                return std::nullopt;
        }
        return call(word, operands);
    }
    static std::string joined(const std::vector<Term>& terms, std::string_view sign, int binding)
    {
        std::string out;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const bool wrap = terms[i].binding < binding;
            out += (i ? std::string(sign) : "") + (wrap ? "(" : "") + terms[i].text
                + (wrap ? ")" : "");
        }
        return out;
    }
    static std::optional<Term> call(const std::string& name, const std::vector<Term>& operands)
    {
        const bool two = operands.size() == 2;
        if ((name == "Symbol" || name == "Integer" || name == "Float" || name == "Dummy")
            && !operands.empty())
            return operands[0];
        if (name == "Add")
            return Term {joined(operands, " + ", 1), 1};
        if (name == "Mul")
            return Term {joined(operands, "*", 2), 2};
        if (name == "Pow" && two)
            return Term {joined(operands, "**", 3), 2};
        if (name == "Rational" && two)
            return Term {joined(operands, "/", 3), 2};
        const auto dot = name.rfind('.');
        const std::string shortName = dot == std::string::npos ? name : name.substr(dot + 1);
        if (shortName == "FloorDiv" && two)
            return Term {joined(operands, "//", 3), 2};
        if ((shortName == "Mod" || shortName == "PythonMod") && two)
            return Term {joined(operands, " % ", 3), 2};
        return Term {shortName + "(" + joined(operands, ", ", 0) + ")"};
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

} // namespace

std::string symbolText(std::string_view expression)
{
    auto term = Reader(expression).whole();
    return term ? term->text : std::string(expression);
}

} // namespace qs
