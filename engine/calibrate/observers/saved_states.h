// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Warns of observers that look at a buffer which the model itself changes, where every call starts
/// from its saved value: that value alone gave their range, often zeros, and what later calls keep
/// in the buffer may lie outside. For calibrations whose data are not a sequence.
void warnOfSavedStates(const Graph& prepared);

} // namespace qs
