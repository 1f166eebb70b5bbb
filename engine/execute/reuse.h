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

/// Quantize-dequantize pairs whose integers have no other consumer: such a pair runs as one pass
/// over floats with the same bits.
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

/// Runs one half of a joined pair: the quantize passes its value on, the dequantize does all. False
/// where the node is neither or its value does not allow it.
bool runJoined(const JoinedPairs& pairs, const Node& node, Frame& frame, const ReusePolicy& policy);

/// The in-place form of `target`, which writes over its first argument; nothing without one that
/// computes the same bits.
std::optional<c10::OperatorHandle> inPlaceOperator(std::string_view target);

/// True if the node's first argument is an expendable float tensor without other owners or views:
/// its memory can take the result.
bool mayOverwriteFirst(const Node& node, const Frame& frame, const ReusePolicy& policy);

} // namespace qs
