// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/tune/tune.h"

#include <string>

namespace qs {

/// A search in words: its trials as a table, then the best, what it costs, and why the search
/// ended.
std::string tuneText(const TuneRequest& request, const TuneState& state);

} // namespace qs
