// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Warns about observers of buffers that the model updates, for data that are not a sequence. Every
/// call then starts from the saved value, often zeros, so the observed range comes from it only,
/// and later contents may lie outside.
void warnOfSavedStates(const Graph& prepared);

} // namespace qs
