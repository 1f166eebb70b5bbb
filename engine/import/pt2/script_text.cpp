// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/script_text.h"

#include "engine/graph/operators/operator_words.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace qs {

namespace {

/// A name, number, string or sign of Python's grammar.
struct Token
{
    std::string_view text;
    std::size_t at = 0;
    bool isName = false;
};
using Tokens = std::vector<Token>;
using TokenIndex = Tokens::const_iterator;

bool isWordLetter(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Position after the string that opens at `at`.
std::size_t endOfString(std::string_view text, std::size_t at)
{
    const char quote = text[at];
    const std::string_view triple = text.substr(at, 3);
    const bool isLong = triple.size() == 3 && triple[1] == quote && triple[2] == quote;
    for (std::size_t i = at + (isLong ? 3 : 1); i < text.size(); ++i) {
        if (text[i] == '\\')
            ++i;
        else if (isLong ? text.substr(i, 3) == triple : text[i] == quote)
            return i + (isLong ? 3 : 1);
    }
    return text.size();
}

/// Returns the text's tokens, without blanks, comments and contents of strings.
Tokens tokensOf(std::string_view text)
{
    Tokens tokens;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t first = i;
        if (text[i] == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(text[i])) || text[i] == '\\') {
            ++i;
            continue;
        }
        if (text[i] == '"' || text[i] == '\'') {
            i = endOfString(text, i);
            tokens.push_back({text.substr(first, 1), first, false});
            continue;
        }
        if (isWordLetter(text[i])) {
            while (i < text.size() && isWordLetter(text[i]))
                ++i;
            const bool isName = !std::isdigit(static_cast<unsigned char>(text[first]));
            tokens.push_back({text.substr(first, i - first), first, isName});
            continue;
        }
        ++i;
        const bool isDoubled = i < text.size() && text[i] == text[first]
            && (text[i] == '*' || text[i] == '/'); // ** and //
        const bool assigns = i < text.size() && text[i] == '=';
        i += isDoubled || assigns;
        tokens.push_back({text.substr(first, i - first), first, false});
    }
    return tokens;
}

/// True if a name is an imported module, such as `torch` and `F`: it is always followed by a dot. A
/// variable occurs at least once in its function without one.
bool isModule(const Tokens& tokens, std::string_view name)
{
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool isMember = i > 0 && tokens[i - 1].text == ".";
        const bool hasMember = i + 1 < tokens.size() && tokens[i + 1].text == ".";
        if (tokens[i].text == name && !isMember && !hasMember)
            return false;
    }
    return true;
}

/// Returns the record of a call whose name, after a dot, is at `name`.
std::string recordOfCall(const Tokens& tokens, TokenIndex name, const std::string& word)
{
    TokenIndex root = name;
    while (root - tokens.begin() >= 2 && std::prev(root)->text == "." && std::prev(root, 2)->isName)
        root -= 2;
    const bool dotted = root != name && (root == tokens.begin() || std::prev(root)->text != ".");
    const bool ofModule = dotted && isModule(tokens, root->text);
    return (ofModule ? "builtin_function_or_method." : "method_descriptor.") + word;
}

/// True if the word at `i` is called: `.word(`.
bool isCalled(const Tokens& tokens, TokenIndex i, const std::string& word)
{
    return i->text == word && i != tokens.begin() && std::prev(i)->text == "."
        && (std::next(i) == tokens.end() || std::next(i)->text == "("
            || std::next(i)->text == ")"); // (torch.add)(x, 1)
}

/// True for the sign, alone or in an assignment: "+" and "+=".
bool isSign(const Token& token, std::string_view sign)
{
    return !sign.empty() && token.text.starts_with(sign)
        && (token.text.size() == sign.size() || token.text.substr(sign.size()) == "=");
}

/// Returns the tokens of an expression at the lowest bracket depth. Brackets may open before the
/// expression or close after it.
std::vector<TokenIndex> outermost(TokenIndex first, TokenIndex last)
{
    std::vector<TokenIndex> found;
    int depth = 0, least = 0;
    for (TokenIndex i = first; i != last; ++i) {
        const bool opens = i->text == "(" || i->text == "[" || i->text == "{";
        const bool closes = i->text == ")" || i->text == "]" || i->text == "}";
        depth -= closes;
        if (depth < least) {
            least = depth;
            found.clear();
        }
        if (depth == least)
            found.push_back(i);
        depth += opens;
    }
    return found;
}

/// Returns the record for a whole branch, if all calls and signs of the word agree.
std::string calledInBranch(const Tokens& tokens, TokenIndex first, TokenIndex last,
                           const std::string& word)
{
    std::set<std::string> records;
    const std::string_view sign = pythonSign(word);
    for (TokenIndex i = first; i != last; ++i) {
        if (isCalled(tokens, i, word))
            records.insert(recordOfCall(tokens, i, word));
        if (isSign(*i, sign))
            records.insert("method_descriptor." + word);
    }
    return records.size() == 1 ? *records.begin() : std::string();
}

/// Returns the record for a number on the left, as in `1 - x`. PyTorch implements it by built-in
/// code that is in no file, `torch.neg(b) + a`, whose nodes are parts of that call.
std::string reflected(const Tokens& tokens, std::size_t start)
{
    static constexpr std::string_view kBegin[] {"def", "mul", "(", "a", ":"};
    for (std::size_t i = 0; i < std::size(kBegin); ++i)
        if (i >= tokens.size() || tokens[i].text != kBegin[i])
            return {};
    for (std::size_t i = 2; i < tokens.size(); ++i) {
        if (tokens[i - 2].at < start || tokens[i - 2].text != "torch")
            continue;
        if (tokens[i].text == "neg")
            return "function.__rsub__";
        return tokens[i].text == "reciprocal" ? "function.__rdiv__" : "";
    }
    return {};
}

} // namespace

std::string calledInText(std::string_view text, std::size_t start, std::size_t end,
                         const std::string& word)
{
    if (start >= end || end > text.size())
        return {};
    const Tokens tokens = tokensOf(text);
    const auto from = [&tokens](std::size_t at) {
        return std::find_if(tokens.begin(), tokens.end(),
                            [at](const Token& token) { return token.at >= at; });
    };
    const TokenIndex first = from(start), last = from(end);
    if (first == last)
        return {};
    if (first->text == "torch")
        if (std::string record = reflected(tokens, start); !record.empty())
            return record;
    if (std::next(first) == last && first->text == word)
        return "builtin_function_or_method." + word; // imported by name
    if (first->text == "if" || first->text == "elif")
        return calledInBranch(tokens, first, last, word);
    // The recorded end may be too early, by one character per leading parenthesis.
    TokenIndex callee = last;
    while (callee != tokens.end() && callee->text == ")")
        ++callee;
    callee += callee != tokens.end() && callee->text == ".";
    for (const TokenIndex i : {std::prev(last), callee})
        if (i != tokens.end() && isCalled(tokens, i, word))
            return recordOfCall(tokens, i, word);
    const std::string_view sign = pythonSign(word);
    static const std::set<std::string, std::less<>> indexing {"unsqueeze", "select", "slice",
                                                              "index"};
    for (const TokenIndex i : outermost(first, last)) {
        if (isSign(*i, sign))
            return "method_descriptor." + word;
        if (indexing.contains(word) && i->text == "[")
            return "wrapper_descriptor.__getitem__";
    }
    return {};
}

} // namespace qs
