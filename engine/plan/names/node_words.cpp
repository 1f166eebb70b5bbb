// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/node_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace qs {

namespace {

/// Words for other things, whose names may be equal to a node's.
constexpr std::array<std::string_view, 15> kOtherThings {
    "argument", "attribute", "backend", "class",   "form",    "input", "key", "module",
    "operator", "output",    "pack",    "pattern", "qconfig", "rule",  "type"};

bool isWordCharacter(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// True if the text before a name shows that the name is not a node's.
bool callsItOtherwise(std::string_view before)
{
    if (!before.ends_with(' '))
        return false;
    before.remove_suffix(1);
    const std::size_t space = before.find_last_of(" (");
    const std::string_view word
        = space == std::string_view::npos ? before : before.substr(space + 1);
    return std::find(kOtherThings.begin(), kOtherThings.end(), word) != kOtherThings.end();
}

} // namespace

std::string withNodeWords(const std::string& sentence, const NodeWording& wording)
{
    std::string out;
    std::size_t copied = 0;
    for (std::size_t at = sentence.find('\''); at != std::string::npos;
         at = sentence.find('\'', at + 1)) {
        const std::size_t end = sentence.find('\'', at + 1);
        const bool isApostrophe = at > 0 && isWordCharacter(sentence[at - 1]);
        if (isApostrophe || end == std::string::npos
            || callsItOtherwise(std::string_view(sentence).substr(0, at)))
            continue;
        const std::string words = wording(sentence.substr(at + 1, end - at - 1));
        if (words.empty())
            continue;
        out += sentence.substr(copied, at - copied) + words;
        copied = end + 1;
        at = end;
    }
    return out + sentence.substr(copied);
}

Error atModelNode(Error error, const Graph& form, const Graph& model)
{
    const Node* made = form.tryFind(error.node);
    if (const Node* origin = made && made->origin ? model.tryGet(made->origin) : nullptr)
        error.node = origin->name;
    return error;
}

} // namespace qs
