// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <vector>

namespace qs {

/// A value that passes between an int8 kernel and an operator in float.
struct Crossing
{
    ValueRef value;
    std::vector<NodeId> readers; ///< for whom; the Output node among them
    bool toFloat = false; ///< dequantized for them; else quantized for them
    /// Of the value in float; an open dimension (mostly the batch) counts as 1, an unknown shape
    /// as nothing.
    std::int64_t bytes = 0;
};

/// What a plan makes pass between int8 and float, in graph order: a value that a kernel leaves in
/// integers and an operator in float or the model's caller reads, and one that is made in float and
/// quantized for a kernel. Pure.
std::vector<Crossing> crossings(const Graph& graph, const Plan& plan);

/// Those that a node in float causes: what is dequantized for it, and what it makes that is
/// quantized. Nodes that were matched as one cause them together.
std::vector<Crossing> crossingsAt(const std::vector<Crossing>& all, const Plan& plan,
                                  const NodePlan& node);

} // namespace qs
