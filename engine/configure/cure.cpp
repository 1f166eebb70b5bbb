// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/cure.h"

#include "engine/base/text.h"
#include "engine/configure/edit_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace qs {

namespace {

constexpr std::array<std::string_view, 11> kCureNames {"range",   "float", "float_result", "bound",
                                                       "dynamic", "split", "equalize",     "smooth",
                                                       "round",   "bias",  "train"};

/// "104", "0.5".
std::string magnitudeText(double value)
{
    std::array<char, 32> text {};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string withMore(const Cure& cure)
{
    return cure.nodes.empty() ? "" : ", with " + std::to_string(cure.nodes.size()) + " more";
}

std::string effectInWords(const Cure& cure, const OperatorNames& names)
{
    if (cure.kind == CureKind::Train)
        return "weights and ranges of " + cure.file;
    const std::string at = addressText(cure.at, names);
    switch (cure.kind) {
    case CureKind::Range:
        return "range of " + at + readersText(cure.readers, names) + ": " + cure.qconfig;
    case CureKind::Float:
        return "keep " + at + " float" + withMore(cure);
    case CureKind::FloatResult:
        return "float result of " + at;
    case CureKind::Bound:
        return "bound " + at + " at " + magnitudeText(cure.bound.value_or(0));
    case CureKind::Dynamic:
        return "ranges of " + at + " at run time: " + cure.qconfig;
    case CureKind::Split:
        return "split " + counted(std::int64_t(cure.channels.size()), "input channel") + " off "
            + at + withMore(cure);
    case CureKind::Equalize:
        return "equalize " + at + withMore(cure) + " and what reads it";
    case CureKind::Smooth:
        return "scale " + counted(std::int64_t(cure.scales.size()), "channel") + " of " + at;
    case CureKind::Round:
        return "round weights of " + at + withMore(cure) + " by " + cure.file;
    case CureKind::Bias:
        return "correct the bias of " + at + withMore(cure) + " by " + cure.file;
    case CureKind::Train:
        break;
    }
    return {};
}

} // namespace

std::string_view cureKindName(CureKind kind)
{
    return kCureNames.at(std::size_t(kind));
}

std::optional<CureKind> cureKindFromName(std::string_view name)
{
    const auto found = std::find(kCureNames.begin(), kCureNames.end(), name);
    if (found == kCureNames.end())
        return std::nullopt;
    return CureKind(found - kCureNames.begin());
}

std::vector<std::string> cureKindNames()
{
    return {kCureNames.begin(), kCureNames.end()};
}

std::string cureText(const Cure& cure, const OperatorNames& names)
{
    return effectInWords(cure, names);
}

std::string cureLine(const Cure& cure, const OperatorNames& names)
{
    std::string text = effectInWords(cure, names);
    if (cure.gainDb)
        text += std::string(*cure.gainDb < 0 ? ", " : ", +") + magnitudeText(*cure.gainDb) + " dB";
    if (!cure.by.empty())
        text += ", by " + cure.by;
    return cure.off ? text + ", off" : text;
}

std::string cureMark(const Cure& cure)
{
    return "cure " + std::string(cureKindName(cure.kind))
        + (cure.by.empty() ? "" : " (" + cure.by + ")");
}

} // namespace qs
