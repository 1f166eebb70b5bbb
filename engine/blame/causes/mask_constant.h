// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// A number that stands for minus infinity in a mask: 1e9 and more.
inline constexpr double kMaskMagnitude = 1e9;

/// The larger of the two ends of what was seen, without its sign.
double magnitudeOf(const ObserverStats& seen);

/// The operator with a mask's number among its arguments, or the stored tensor that holds it, from
/// which the node's value is computed; none within a few steps.
NodeId maskHolder(const SiteFacts& facts, NodeId from);

/// The spread of the scores that a mask is added to: the widest range among what the operators
/// at the site read, but for the mask's; 0 where nothing was seen.
double scoreRange(const SiteFacts& facts, const BlameSite& site);

} // namespace qs
