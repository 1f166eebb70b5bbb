// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/value_inspection.h"

namespace qs {

/// A channel is wide if its largest magnitude is this many times the median channel's. With one
/// scale for all channels, the median channel then loses two bits. Such ranges are what Nagel et
/// al. (Data-Free Quantization, 2019) equalize and Dettmers et al. (LLM.int8(), 2022) keep in
/// float.
inline constexpr double kWideRange = 4;
/// A channel is noisy if its share of the noise is this many times the average share (one over the
/// number of channels).
inline constexpr double kNoisyShare = 4;

/// Sets `isWide` and `isNoisy` by these two bounds, among the channels of each result. If the
/// median channel is all zero, no channel is wide; an infinite error is noisy.
void markOutliers(std::vector<ChannelError>& channels);

} // namespace qs
