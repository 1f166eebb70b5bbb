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

/// Quantize-dequantize pairs whose integers nobody else reads: such a pair is one pass over floats
/// with the same bits.
struct JoinedPairs
{
    std::unordered_set<NodeId> quantizes;
    std::unordered_map<NodeId, kernels::FakeQuant> dequantizes;
};
JoinedPairs findJoinedPairs(const Graph& graph);

/// What a caller lets a node do: nothing special, or take over memory and join pairs. Neither is
/// done where autograd records: it keeps values for later.
struct Freedom
{
    bool joinsPairs = false; ///< nobody looks at the integers
    std::span<const ValueRef> expendable {}; ///< nobody reads these after the node
};

/// Runs one half of a joined pair: the quantize passes its value on, the dequantize does all. False
/// where the node is neither or its value does not allow it.
bool runJoined(const JoinedPairs& pairs, const Node& node, Frame& frame, const Freedom& freedom);

/// The operator that writes what `target` computes over its first argument, where there is one that
/// computes the same bits.
std::optional<c10::OperatorHandle> inPlaceOperator(std::string_view target);

/// True where the node's first argument is an expendable float tensor that nothing else holds, in
/// no view either: its memory can take the result.
bool mayOverwriteFirst(const Node& node, const Frame& frame, const Freedom& freedom);

} // namespace qs
