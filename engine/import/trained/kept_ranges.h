// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string>
#include <unordered_map>

namespace qs {

class Pt2Archive;

/// Archive record of training ranges (`givenObservations`) in a float model saved by this program,
/// whose graph no longer has fake quantizers.
inline constexpr const char* kKeptRangesPath = "extra/quantscope_ranges.json";

/// The graph's values by name, as ranges name them; "" is the Output node.
using ValuesByName = std::unordered_map<std::string, ValueRef>;
ValuesByName valuesByName(const Graph& graph);

/// Returns the record of the graph's ranges; "" if it has none. Values and consumers are identified
/// by their .pt2 names. Omits ranges of values that an edit removed.
std::string keptRangesText(const Graph& graph);

/// Restores the archive's ranges in the graph, which was read from it and is not shared yet.
/// Ignores ranges of values that the graph does not have. Fails (BadInput) on a damaged record.
Result<void> takeKeptRanges(const Graph& graph, const Pt2Archive& archive);

} // namespace qs
