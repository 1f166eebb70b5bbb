// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/text_literals.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace qs {

std::string quotedLiteral(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\r')
            out += "\\r";
        else if (byte < 0x20 || byte == 0x7f)
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        else
            out += c;
    }
    return out + "\"";
}

std::string doubleText(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    std::string out(buffer.data(), end);
    if (out.find_first_of(".e") == std::string::npos)
        out += ".0";
    return out;
}

std::string nameText(std::string_view name)
{
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c));
    });
    return plain ? std::string(name) : quotedLiteral(name);
}

} // namespace qs
