// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// What an observer of `spec` would keep of what another saw, where it follows exactly: the same
/// state, or extremes and moving averages from the extremes of each batch. Nothing where another
/// look at the data is needed.
std::optional<ObserverStats> derivedStats(const ObserverStats& from, const ObserverSpec& spec);

/// Whether both observers keep the same: the arguments of torch.ao's constructors that matter
/// agree.
bool sameState(const ObserverSpec& a, const ObserverSpec& b);

} // namespace qs
