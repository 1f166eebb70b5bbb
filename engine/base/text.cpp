// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <algorithm>
#include <cstdio>

namespace qs {

std::string numberText(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
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

std::string shortened(std::string text, std::size_t longest)
{
    if (text.size() > longest)
        text.replace(longest, std::string::npos, "...");
    return text;
}

} // namespace qs
