// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string_view>
#include <vector>

namespace qs {

/// State updates are explicit: a node of this operator assigns a buffer (or a caller's input) a new
/// value at the end of the call. Arguments: `holder`, the name of the buffer's or input's node, and
/// `value`. Its one output is that value. Nodes before it read the value as it was when the call
/// began. It stays float and is never removed as dead. Each call starts from the saved state unless
/// the data are a sequence.
inline constexpr std::string_view kSetStateTarget = "quantscope.set_state.default";

bool isStateUpdate(const Node& node);

/// The parts of a state update.
struct StateUpdate
{
    NodeId node;
    NodeId holder; ///< a Parameter, or an Input
    ValueRef value; ///< content of `holder` after the call
};

/// Returns a node, not yet in a graph, that assigns the value, of type `type`, to `holder`.
Node makeStateUpdate(const Node& holder, ValueRef value, const ValueType& type);

/// Returns all updates in order, except those whose holder no longer exists.
std::vector<StateUpdate> stateUpdates(const Graph& graph);

/// Returns the graph without its update nodes; the nodes that compute the new values stay. For
/// writers of formats that express updates differently; they also call `stateUpdates` on the
/// original graph.
Graph withoutStateUpdates(const Graph& graph);

} // namespace qs
