// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// Magnitude from which a mask's number is treated as minus infinity.
inline constexpr double kMaskMagnitude = 1e9;

/// Returns the largest observed magnitude.
double magnitudeOf(const ObserverStats& seen);

/// Returns the operator with a mask's number as argument, or the stored tensor with it, from which
/// the node's value is computed; invalid if none is found within a few steps.
NodeId maskHolder(const SiteFacts& facts, NodeId from);

/// Returns the range of the scores that a mask is added to: the widest range of the values read by
/// the operators at the site, except the mask's; 0 if nothing was observed.
double scoreRange(const SiteFacts& facts, const BlameSite& site);

} // namespace qs
