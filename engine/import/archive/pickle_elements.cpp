// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickle_elements.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace qs {

namespace {

/// Bits per element of `torch.<name>Storage`.
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 7> kElements {{
    {2, " QUInt2x4 "},
    {4, " QUInt4x2 "},
    {8, " Byte Char Bool QInt8 QUInt8 "},
    {16, " Short Half BFloat16 "},
    {32, " Int Float ComplexHalf QInt32 "},
    {64, " Long Double ComplexFloat "},
    {128, " ComplexDouble "},
}};

} // namespace

std::uint64_t pickledElementBits(std::string_view global)
{
    constexpr std::string_view kModule = "torch\n", kEnd = "Storage";
    if (!global.starts_with(kModule) || !global.ends_with(kEnd)
        || global.size() <= kModule.size() + kEnd.size())
        return 0;
    global.remove_prefix(kModule.size());
    global.remove_suffix(kEnd.size());
    const std::string wanted = ' ' + std::string(global) + ' ';
    const auto row = std::find_if(kElements.begin(), kElements.end(), [&](const auto& r) {
        return r.second.find(wanted) != std::string_view::npos;
    });
    return row == kElements.end() ? 0 : row->first;
}

} // namespace qs
