// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/cause.h"

#include <array>

namespace qs {

namespace {

struct CauseRow
{
    CauseCode code;
    std::string_view name, words;
};

constexpr std::array kCauseRows {
    CauseRow {CauseCode::MaskConstant, "mask_constant", "a mask's constant widens the range"},
    CauseRow {CauseCode::OutlierChannel, "outlier_channel",
              "a few channels are much larger than the others"},
    CauseRow {CauseCode::OutlierPosition, "outlier_position",
              "a few places are much larger than the others"},
    CauseRow {CauseCode::Clipped, "clipped", "values are cut off"},
    CauseRow {CauseCode::RangeWide, "range_wide", "the range is wider than the values need"},
    CauseRow {CauseCode::OutlierSample, "outlier_sample",
              "a few samples are much larger than the others"},
    CauseRow {CauseCode::SharedRange, "shared_range", "values of different size share one range"},
    CauseRow {CauseCode::NeedlessOutput, "needless_output",
              "a result is quantized though only float operators read it"},
    CauseRow {CauseCode::ChannelSpread, "channel_spread",
              "channels that layers read differ much in size"},
    CauseRow {CauseCode::BiasShift, "bias_shift", "the noise has a mean"},
    CauseRow {CauseCode::WeightRounding, "weight_rounding", "the weight is rounded"},
    CauseRow {CauseCode::Recurrence, "recurrence", "noise inside a recurrent layer adds up"},
    CauseRow {CauseCode::BitsUnused, "bits_unused", "seven bits are used of eight"},
    CauseRow {CauseCode::Unexplained, "unexplained", "no cause was found"},
};

const CauseRow& rowOf(CauseCode code)
{
    return kCauseRows.at(std::size_t(code));
}

} // namespace

std::string_view causeName(CauseCode code)
{
    return rowOf(code).name;
}

std::optional<CauseCode> causeFromName(std::string_view name)
{
    for (const CauseRow& row : kCauseRows)
        if (row.name == name)
            return row.code;
    return std::nullopt;
}

std::string_view causeWords(CauseCode code)
{
    return rowOf(code).words;
}

} // namespace qs
