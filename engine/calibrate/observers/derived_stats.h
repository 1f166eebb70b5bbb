// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// The statistics that an observer of `spec` would have on another's data, if they follow exactly:
/// the same state, or extremes and moving averages from the extremes of each batch. Nothing if the
/// data must be observed again.
std::optional<ObserverStats> derivedStats(const ObserverStats& from, const ObserverSpec& spec);

/// Whether both observers keep the same: the arguments of torch.ao's constructors that matter
/// agree.
bool sameState(const ObserverSpec& a, const ObserverSpec& b);

} // namespace qs
