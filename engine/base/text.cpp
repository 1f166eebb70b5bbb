// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <cstdio>

namespace qs {

std::string numberText(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

std::string inQuotes(const std::string& text)
{
    return "'" + text + "'";
}

std::string shortened(std::string text, std::size_t longest)
{
    if (text.size() > longest)
        text.replace(longest, std::string::npos, "...");
    return text;
}

} // namespace qs
