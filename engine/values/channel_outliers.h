// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/value_inspection.h"

namespace qs {

/// A channel whose largest magnitude is this many times the median channel's: where one scale
/// serves all of them, the median channel is left with two bits less than it could have. Such
/// ranges are what Nagel et al. (Data-Free Quantization, 2019) equalize and Dettmers et al.
/// (LLM.int8(), 2022) keep in float.
inline constexpr double kWideRange = 4;
/// A channel that holds this many times its fair share (one over the number of channels) of the
/// noise.
inline constexpr double kNoisyShare = 4;

/// Sets `isWide` and `isNoisy` by these two bounds, among the channels of each result. Where the
/// median channel is zero everywhere none is wide; an infinite error is noisy.
void markOutliers(std::vector<ChannelError>& channels);

} // namespace qs
