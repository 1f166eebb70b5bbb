// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/recompose/decomposed_reader.h"

namespace qs {

/// Resizing to the nearest element's middle, over the last `Dims` dimensions: one index with the
/// places (arange + 0.5) * factor.
template<std::size_t Dims>
DecomposedArgs nearestExact(const DecomposedReader& read);

/// Padding by mirrored or repeated borders: one index for every dimension, the places folded back
/// (h - |h - |arange||) or clamped.
DecomposedArgs padded(const DecomposedReader& read);

} // namespace qs
