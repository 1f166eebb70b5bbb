// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/configure/qconfig.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Why a site makes noise, in the order in which one is looked for.
enum class CauseCode : std::uint8_t
{
    MaskConstant, ///< a constant of 1e9 and more, such as a mask's, widens the range
    OutlierChannel, ///< few channels are much larger than the others, in all samples
    OutlierPosition, ///< few places (the first token, padding) are
    Clipped, ///< more is lost by cutting values off than by rounding
    RangeWide, ///< the chosen range is much wider than the one of least noise
    OutlierSample, ///< few samples are much larger than the others
    SharedRange, ///< values of very different ranges share one observer
    NeedlessOutput, ///< a quantized layer's result is quantized, and only read as float
    ChannelSpread, ///< channel ranges of two layers in a row differ much
    BiasShift, ///< the noise has a mean
    WeightRounding, ///< a weight's rounding is what its operator loses
    Recurrence, ///< inside a recurrent layer, step after step
    BitsUnused, ///< seven bits where this target's kernels take eight
    Unexplained
};
std::string_view causeName(CauseCode code); ///< "outlier_channel" ...
std::optional<CauseCode> causeFromName(std::string_view name);
/// In plain words: "a few channels are much larger than the others".
std::string_view causeWords(CauseCode code);

/// A cure that is proposed, with the qconfig that it names, if it names a new one.
struct Proposal
{
    Cure cure;
    std::optional<QConfig> qconfig {};
};

/// One site and why it makes noise. A value.
struct Cause
{
    CauseCode code = CauseCode::Unexplained;
    std::size_t site = 0; ///< index into `Blame::sites`
    double share = 0; ///< of the sum of all shares
    std::vector<std::string> evidence; ///< sentences with figures
    std::vector<Proposal> proposals; ///< the cheapest first; empty where none is known
};

} // namespace qs
