// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string>

namespace qs {

class Pt2Archive;

/// The record of training ranges (`givenObservations`) in a float model that this program saved:
/// its graph no longer holds fake quantizers.
inline constexpr const char* kKeptRangesPath = "extra/quantscope_ranges.json";

/// The record of the graph's ranges; "" for a graph without. Values and their readers have the
/// names that a .pt2 gives them. Ranges of values that an edit removed are left out.
std::string keptRangesText(const Graph& graph);

/// Gives the graph, read from the archive and not shared yet, the ranges that the archive keeps.
/// Ranges of values that the graph does not have are left out. Errors (BadInput): a damaged record.
Result<void> takeKeptRanges(const Graph& graph, const Pt2Archive& archive);

} // namespace qs
