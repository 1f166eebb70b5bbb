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

} // namespace qs
