// SPDX-License-Identifier: Apache-2.0
#include "engine/base/error_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace qs {

namespace {

constexpr double kOrderOfSumsDb = 100;

using Stops = std::array<Rgb, 7>;
constexpr Stops kOnLight {{{0x00, 0x22, 0x4e},
                           {0x2a, 0x3f, 0x6d},
                           {0x57, 0x5c, 0x6d},
                           {0x7d, 0x7c, 0x78},
                           {0xa5, 0x9c, 0x74},
                           {0xd2, 0xc0, 0x60},
                           {0xfe, 0xe8, 0x38}}};
constexpr Stops kOnDark {{{0x3d, 0x61, 0x99},
                          {0x56, 0x6e, 0x98},
                          {0x70, 0x78, 0x89},
                          {0x8b, 0x8a, 0x84},
                          {0xab, 0xa2, 0x7a},
                          {0xd2, 0xc0, 0x60},
                          {0xfe, 0xe8, 0x38}}};

} // namespace

std::string hexColour(Rgb colour)
{
    std::array<char, 8> text {};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", unsigned(colour.red),
                  unsigned(colour.green), unsigned(colour.blue));
    return text.data();
}

Rgb inkOn(Rgb fill)
{
    const double luminance = 0.299 * fill.red + 0.587 * fill.green + 0.114 * fill.blue;
    return luminance > 150 ? Rgb {0x11, 0x11, 0x11} : Rgb {0xff, 0xff, 0xff};
}

Rgb cividis(double badness, bool onDark)
{
    const Stops& stops = onDark ? kOnDark : kOnLight;
    const double at = std::clamp(badness, 0.0, 1.0) * double(stops.size() - 1);
    const auto low = std::min(std::size_t(at), stops.size() - 2);
    const double share = at - double(low);
    const auto mix = [share](std::uint8_t from, std::uint8_t to) {
        return std::uint8_t(std::lround(from + (to - from) * share));
    };
    const Rgb &a = stops[low], &b = stops[low + 1];
    return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

void ErrorScale::include(double db)
{
    if (!(db <= kOrderOfSumsDb))
        return;
    m_best = std::max(m_best.value_or(db), db);
    m_worst = std::min(m_worst.value_or(db), db);
}

double ErrorScale::best() const
{
    const double most = std::max(60.0, worst() + 40);
    return std::max(std::min(m_best.value_or(45), most), worst() + 6);
}

} // namespace qs
