// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_names.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/text/text_literals.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

bool isDigit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool isWordCharacter(char c)
{
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
}

/// "conv_12" is number 12 of "conv"; "conv" has none.
std::pair<std::string, int> splitNumber(const std::string& name)
{
    auto start = name.size();
    while (start > 0 && isDigit(name[start - 1]))
        --start;
    if (start == name.size() || start == 0 || name[start - 1] != '_' || name.size() - start > 8)
        return {name, -1};
    return {name.substr(0, start - 1), std::stoi(name.substr(start))};
}

/// True for Python's keywords and built-ins, which a value must not shadow.
bool isTaken(const std::string& name)
{
    static constexpr std::string_view kNames
        = " False None True abs all and any as assert bin bool break bytes callable chr class "
          "complex continue def del device dict dir divmod elif else except filter finally "
          "float for format from global hash help hex id if import in inf input int is iter "
          "lambda len list map max min nan next nonlocal not object oct open or ord pass pow "
          "print property raise range repr return reversed round self set slice sorted str sum "
          "super torch try tuple type vars while with yield zip ";
    return kNames.find(" " + name + " ") != std::string_view::npos;
}

} // namespace

std::string CodeNames::create(std::string candidate)
{
    for (char& c : candidate)
        if (!isWordCharacter(c))
            c = '_';
    if (candidate.empty())
        candidate = "_unnamed";
    if (isDigit(candidate[0]))
        candidate.insert(0, "_");
    auto [base, number] = splitNumber(candidate);
    if (number < 0 || m_used.contains(candidate)) {
        const auto it = m_count.find(candidate);
        number = it == m_count.end() ? 0 : it->second;
        if (isTaken(candidate))
            candidate = base + "_" + std::to_string(++number);
    }
    while (m_used.contains(candidate))
        candidate = base + "_" + std::to_string(++number);
    m_used.insert(candidate);
    m_count[base] = number;
    return candidate;
}

std::string AttributeNames::create(std::string prefix)
{
    std::replace(prefix.begin(), prefix.end(), '.', '_');
    return prefix + std::to_string(m_next[prefix]++);
}

bool isIdentifier(std::string_view text)
{
    return !text.empty() && !isDigit(text[0])
        && std::all_of(text.begin(), text.end(), isWordCharacter);
}

std::string moduleCallName(std::string_view path)
{
    std::string out;
    for (const char c : path) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isupper(u) && !out.empty() && std::islower(static_cast<unsigned char>(out.back())))
            out += '_';
        out += c == '.' ? '_' : char(std::tolower(u));
    }
    return out;
}

std::string targetBase(std::string_view target)
{
    std::string_view word = operatorParts(target).word;
    while (word.size() > 1 && word.ends_with('_'))
        word.remove_suffix(1);
    return std::string(word);
}

std::string attributeText(std::string_view path)
{
    std::string out = "self";
    while (!path.empty()) {
        const auto dot = path.find('.');
        const std::string part(path.substr(0, dot));
        out = isIdentifier(part) ? out + "." + part
                                 : "getattr(" + out + ", " + quotedLiteral(part) + ")";
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return out;
}

} // namespace qs
