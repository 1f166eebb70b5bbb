// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/operator_name.h"

#include <algorithm>

namespace qs {

OperatorParts operatorParts(std::string_view name)
{
    OperatorParts parts;
    if (const auto end = name.find_first_of(".:"); end != std::string_view::npos) {
        parts.space = name.substr(0, end);
        name.remove_prefix(end + (name.substr(end).starts_with("::") ? 2 : 1));
    }
    const auto dot = std::min(name.find('.'), name.size());
    parts.word = name.substr(0, dot);
    parts.overload = name.substr(std::min(dot + 1, name.size()));
    return parts;
}

std::string_view operatorPacket(std::string_view name)
{
    const OperatorParts parts = operatorParts(name);
    return name.substr(0, std::size_t(parts.word.data() + parts.word.size() - name.data()));
}

std::string shortOpName(const std::string& target)
{
    std::string_view word = operatorParts(target).word;
    word.remove_prefix(std::min(word.find_first_not_of('_'), word.size()));
    return word.empty() ? target : std::string(word);
}

} // namespace qs
