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

/// Why a site causes noise, in the order in which causes are tested.
enum class CauseCode : std::uint8_t
{
    MaskConstant, ///< a constant of 1e9 and more, such as a mask's, widens the range
    OutlierChannel, ///< few channels are much larger than the others, in all samples
    OutlierPosition, ///< few positions (the first token, padding) are much larger
    Clipped, ///< clipping loses more than rounding
    RangeWide, ///< the chosen range is much wider than the one with least noise
    OutlierSample, ///< few samples are much larger than the others
    SharedRange, ///< values of very different ranges share one observer
    NeedlessOutput, ///< a quantized layer's result is quantized, but only read as float
    ChannelSpread, ///< ranges of channels that a layer reads differ much
    BiasShift, ///< the noise has a nonzero mean
    WeightRounding, ///< most of the operator's noise comes from rounding its weight
    Recurrence, ///< accumulates over the steps of a recurrent layer
    BitsUnused, ///< seven bits although this machine's kernels support eight
    Unexplained
};
std::string_view causeName(CauseCode code); ///< "outlier_channel" ...
std::optional<CauseCode> causeFromName(std::string_view name);
/// Returns the cause in plain words: "a few channels are much larger than the others".
std::string_view causeWords(CauseCode code);

/// A proposed cure, with its qconfig if that is new.
struct Proposal
{
    Cure cure;
    std::optional<QConfig> qconfig {};
};

/// One site and the cause of its noise. A value type.
struct Cause
{
    CauseCode code = CauseCode::Unexplained;
    std::size_t site = 0; ///< index into `Blame::sites`
    double share = 0; ///< fraction of the sum of all shares
    std::vector<std::string> evidence; ///< sentences with numbers
    std::vector<Proposal> proposals; ///< cheapest first; empty if none is known
};

} // namespace qs
