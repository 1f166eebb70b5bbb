// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/match/graph_pattern.h"

#include "engine/graph/text/text_lexer.h"
#include "engine/graph/text/text_values.h"

#include <map>
#include <sstream>

namespace qs {

namespace {

class PatternLines
{
public:
    Result<GraphPattern> read(std::string_view text)
    {
        GraphPattern last;
        std::istringstream lines {std::string(text)};
        for (std::string line; std::getline(lines, line);) {
            ++m_number;
            TextLexer lexer(line);
            if (lexer.atEnd())
                continue;
            QS_TRY(last, readLine(lexer));
        }
        if (last.targets.empty())
            return fail(ErrorCode::BadInput, "a pattern has an operator");
        return last;
    }

private:
    tl::unexpected<Error> bad(const std::string& what) const
    {
        return fail(ErrorCode::BadInput, "line " + std::to_string(m_number) + ": " + what);
    }

    Result<GraphPattern> readLine(TextLexer& lexer)
    {
        GraphPattern made;
        if (lexer.take("%")) {
            made.name = lexer.name().value_or("");
            if (made.name.empty() || !lexer.take("="))
                return bad("an operator reads: %name = op \"target\" (arguments)");
        }
        const auto kind = lexer.word();
        const auto target = lexer.string();
        if (kind != "op" || !target || !lexer.take("("))
            return bad("an operator reads: %name = op \"target\" (arguments)");
        std::istringstream targets(*target);
        for (std::string one; std::getline(targets, one, '|');)
            made.targets.push_back(one);
        if (!lexer.take(")")) {
            do {
                QS_TRY(GraphPattern input, readInput(lexer));
                made.inputs.push_back(std::move(input));
            } while (lexer.take(","));
            if (!lexer.take(")"))
                return bad("a ) is missing after the arguments");
        }
        if (!lexer.atEnd())
            return bad("the line continues after its operator");
        if (!made.name.empty())
            m_made[made.name] = made;
        return made;
    }

    Result<GraphPattern> readInput(TextLexer& lexer)
    {
        GraphPattern input;
        const auto argument = lexer.name();
        if (!argument || !lexer.take("="))
            return bad("an argument reads: name=value");
        if (lexer.take("%")) {
            input.name = lexer.name().value_or("");
            if (const auto earlier = m_made.find(input.name); earlier != m_made.end())
                input = earlier->second;
            input.isOptional = lexer.take("?");
        } else {
            auto constant = readArgumentText(lexer, {});
            if (!constant)
                return bad(constant.error().message);
            input.constant = std::move(*constant);
        }
        input.argument = *argument;
        return input;
    }

    std::map<std::string, GraphPattern> m_made;
    int m_number = 0;
};

} // namespace

std::size_t GraphPattern::size() const
{
    std::size_t count = 1;
    for (const GraphPattern& input : inputs)
        count += input.size();
    return count;
}

Result<GraphPattern> parsePattern(std::string_view text)
{
    return PatternLines().read(text);
}

GraphPattern chainPattern(const std::vector<std::string>& targets)
{
    GraphPattern chain;
    for (const std::string& target : targets) {
        GraphPattern next;
        next.targets = {target};
        if (!chain.targets.empty())
            next.inputs.push_back(std::move(chain));
        chain = std::move(next);
    }
    return chain;
}

} // namespace qs
