// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/io/npz.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Numbers that cures (`round`, `bias`) give to one quantized layer, for its converted forms; the
/// float model keeps its own. A value type.
struct LayerNumbers
{
    NodeId layer; ///< carries the weight
    /// The weight's integers relative to its zero points (int8 or int16, of the weight's shape with
    /// its batch norm folded in), and the scales (float32) on which they were chosen.
    std::optional<NpyArray> steps, scales;
    std::optional<NpyArray> shift; ///< by output channel (float32), added to the bias
};

/// Arrays of an .npz of `round` or `bias`: the layer's address, a slash, and one of these.
inline constexpr const char* kStepsArray = "steps";
inline constexpr const char* kScalesArray = "scales";
inline constexpr const char* kShiftArray = "shift";

/// Reads the arrays that a cure has for these layers, by address, in their order. Errors: those of
/// `readNpz`; a layer without arrays, an array of another type or shape.
Result<std::vector<LayerNumbers>> readLayerNumbers(const std::string& file,
                                                   const std::vector<std::string>& layers);

/// The arrays of a file that `readLayerNumbers` reads.
std::vector<NpyArray> layerArrays(const std::string& layer, const LayerNumbers& numbers);

} // namespace qs
