// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string_view>
#include <vector>

namespace qs {

/// What a model changes of its own is explicit: a node of this operator says that a buffer (or an
/// input of the caller's) has a new value once the call is over. Arguments: `holder`, the name of
/// the buffer's or input's node, and `value`. Its one output is that value. Nodes before it read
/// the value as it was when the call began. It stays float and is never dead. Each call starts from
/// the saved state unless the data are a sequence.
inline constexpr std::string_view kSetStateTarget = "quantscope.set_state.default";

bool isStateUpdate(const Node& node);

/// One of them, taken apart.
struct StateUpdate
{
    NodeId node;
    NodeId holder; ///< a Parameter, or an Input
    ValueRef value; ///< what it holds after the call
};

/// A node, not yet in a graph, that gives `holder` the value; `type` is the value's.
Node makeStateUpdate(const Node& holder, ValueRef value, const ValueType& type);

/// All updates in order; those whose holder is gone are left out.
std::vector<StateUpdate> stateUpdates(const Graph& graph);

/// The graph without the nodes of its updates, whose values stay: for writers of formats that say
/// it in their own way, together with `stateUpdates` of the same graph.
Graph withoutStateUpdates(const Graph& graph);

} // namespace qs
