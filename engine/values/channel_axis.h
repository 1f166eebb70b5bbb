// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Along which axis of a value, of `rank` dimensions, its channels lie; -1 where it has fewer than
/// two. The operator that made it decides: convolutions, batch and group norms, pooling and
/// resizing have channels in axis 1; linear layers, embeddings, layer norms, attention and products
/// of matrices in the last. Operators that keep their first argument's shape pass the question on
/// to it, but for those that exchange axes. Where nothing tells: axis 1 of four and more
/// dimensions, else the last.
int channelAxis(const Graph& graph, ValueRef value, std::size_t rank);

/// Of a stored weight: along which axis its output channels lie.
int weightChannelAxis(const Node& reader);

} // namespace qs
