// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// What a model brings along that quantization after training does not want, one line each with the
/// modules it is about: operators left in training mode (bodies of subgraphs included), modules
/// that were made for eager-mode quantization, layers of a region whose modules the file does not
/// tell; and that it is quantized already.
void warnOfModel(const Graph& graph, std::vector<std::string>& warnings);

/// What is wrong with quantizing a model that is quantized: how many of its operators quantize,
/// dequantize or compute on integers, bodies of subgraphs included. Empty for a float model.
std::string alreadyQuantized(const Graph& graph);

} // namespace qs
