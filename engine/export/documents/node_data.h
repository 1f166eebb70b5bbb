// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// What was born in every node, in dB of SQNR, as Model Explorer's node data: one graph's `results`
/// by node name with a `gradient` from worst to best. Loaded beside the same .pt2 it paints the
/// graph there. A node that loses nothing counts as 100 dB; one without a figure is left out.
std::string nodeDataJson(const Graph& model, const Comparison& comparison);

} // namespace qs
