// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/recompose/decomposed_reader.h"

namespace qs {

/// Resizing to the nearest element's middle, over the last `Dims` dimensions: one index with the
/// places (arange + 0.5) * factor. Adds "sizes" and "scales".
template<std::size_t Dims>
bool takesNearest(const DecomposedReader& read, PatternMatch& match);

/// Padding by mirrored or repeated borders: one index for every dimension, the places folded back
/// (h - |h - |arange||) or clamped. Adds "self", "pad" and "mode".
bool takesBeyondBorders(const DecomposedReader& read, PatternMatch& match);

} // namespace qs
