// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// Returns the statistics that an observer of `spec` would have on another observer's data, if they
/// can be derived exactly: equal state, or extremes and moving averages from each batch's extremes.
/// nullopt if the data must be observed again.
std::optional<ObserverStats> derivedStats(const ObserverStats& from, const ObserverSpec& spec);

/// True if both observers keep the same state: the relevant arguments of torch.ao's constructors
/// are equal.
bool sameState(const ObserverSpec& a, const ObserverSpec& b);

} // namespace qs
