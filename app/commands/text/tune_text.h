// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/tune/tune_state.h"

#include <string>

namespace qs {

/// Formats a search: its trials as a table, then the best, its cost, and why the search ended.
std::string tuneText(const TuneRequest& request, const TuneState& state);

} // namespace qs
