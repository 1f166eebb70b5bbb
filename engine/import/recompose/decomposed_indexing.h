// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/recompose/decomposed_reader.h"

namespace qs {

/// Matches nearest-exact resizing over the last `Dims` dimensions: one index with positions (arange
/// + 0.5) * factor. Adds "sizes" and "scales" to the match.
template<std::size_t Dims>
bool takesNearest(const DecomposedReader& read, PatternMatch& match);

/// Matches reflection or replication padding: one index per dimension, with positions folded back
/// (h - |h - |arange||) or clamped. Adds "self", "pad" and "mode" to the match.
bool takesBeyondBorders(const DecomposedReader& read, PatternMatch& match);

} // namespace qs
