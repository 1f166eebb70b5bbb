// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// The error that each node adds (SQNR in dB) as node data for Model Explorer: `results` of one
/// graph by node name, and a `gradient` from worst to best. Model Explorer colours the graph if it
/// is loaded with the same .pt2. Values are at most 100 dB; nodes without a measurement are left
/// out.
std::string nodeDataJson(const Graph& model, const Comparison& comparison);

} // namespace qs
