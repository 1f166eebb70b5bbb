// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/frame.h"
#include "engine/graph/graph.h"
#include "engine/kernels/fake_quant.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Quantize-dequantize pairs whose integers have no other consumer. Such a pair runs as one pass
/// over floats with bitwise equal results.
struct JoinedPairs
{
    std::unordered_set<NodeId> quantizes;
    std::unordered_map<NodeId, kernels::FakeQuant> dequantizes;
};
JoinedPairs findJoinedPairs(const Graph& graph);

/// Optimizations that a caller allows a node: overwriting memory and joining pairs. Neither is done
/// while autograd records: it keeps values for later.
struct ReusePolicy
{
    bool joinsPairs = false; ///< the integers have no other consumer
    std::span<const ValueRef> expendable {}; ///< not read after the node
};

/// Runs one node of a joined pair: the quantize passes its input on, the dequantize computes both.
/// Returns false if the node is in no pair or its value does not allow it.
bool runJoined(const JoinedPairs& pairs, const Node& node, Frame& frame, const ReusePolicy& policy);

/// The in-place variant of `target`, which overwrites its first argument; empty if no variant gives
/// bitwise equal results.
std::optional<c10::OperatorHandle> inPlaceOperator(std::string_view target);

/// True if the node's first argument is an expendable float tensor without other owners or views:
/// the result can be written to its memory.
bool mayOverwriteFirst(const Node& node, const Frame& frame, const ReusePolicy& policy);

} // namespace qs
