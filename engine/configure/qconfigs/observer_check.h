// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/observer_spec.h"

namespace qs {

/// True if the method tries a range for each bin of a histogram.
bool triesEachBin(RangeMethod method);
/// Maximum number of bins for such a method.
inline constexpr int kMostSearchedBins = 1 << 15;

/// True if an observer of this kind keeps a range for each channel.
bool isChannelKind(ObserverKind kind);

/// Fails if the values of an observer's keys are invalid, individually or in combination. `place`:
/// the observer's place in its file, for the error.
Result<void> checkObserver(const JsonPlace& place, const ObserverSpec& spec);

} // namespace qs
