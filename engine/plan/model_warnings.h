// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// What a model brings along that quantization after training does not want, one line each with the
/// modules it is about: operators left in training mode (bodies of subgraphs included), and modules
/// that were made for eager-mode quantization; and that it is quantized already.
void warnOfModel(const Graph& graph, std::vector<std::string>& warnings);

/// Operators that quantize, dequantize or compute on integers, bodies of subgraphs included: 0 in a
/// float model.
std::size_t quantizedOperators(const Graph& graph);

} // namespace qs
