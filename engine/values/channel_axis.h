// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Returns the channel axis of a value of `rank` dimensions; -1 if it has fewer than two. It
/// depends on the producer: convolutions, batch and group norms, pooling and resizing have channels
/// in axis 1; linear layers, embeddings, layer norms, attention and matrix products in the last
/// axis. Operators that keep their first argument's shape have its axis, except those that permute
/// axes. If the producer is unknown: where a layer with weights that reads the value expects them.
/// Without one: axis 1 for four or more dimensions, else the last.
int channelAxis(const Graph& graph, ValueRef value, std::size_t rank);

/// Returns the axis of the output channels of a stored weight.
int weightChannelAxis(const Node& reader);

} // namespace qs
