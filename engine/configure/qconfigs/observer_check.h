// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/observer_spec.h"

namespace qs {

/// Does the method try a range for each bin of a histogram?
bool triesEachBin(RangeMethod method);
/// Most bins of a histogram for such a method.
inline constexpr int kMostSearchedBins = 1 << 15;

/// Does an observer of this kind keep a range for each channel?
bool isChannelKind(ObserverKind kind);

/// Whether the values of an observer's keys make sense, each and together; `place` is the
/// observer's in its file, for the error.
Result<void> checkObserver(const JsonPlace& place, const ObserverSpec& spec);

} // namespace qs
