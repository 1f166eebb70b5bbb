// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The channel axis of a value of `rank` dimensions; -1 if it has fewer than two. The operator
/// that made it decides: convolutions, batch and group norms, pooling and resizing have
/// channels in axis 1; linear layers, embeddings, layer norms, attention and products of
/// matrices in the last. Operators that keep their first argument's shape have its axis,
/// except those that exchange axes. If unknown: axis 1 of four and more dimensions, else the
/// last.
int channelAxis(const Graph& graph, ValueRef value, std::size_t rank);

/// The axis of the output channels of a stored weight.
int weightChannelAxis(const Node& reader);

} // namespace qs
