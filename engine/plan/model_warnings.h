// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Warns of features of a model that harm quantization after training, one line each with the
/// modules concerned: operators left in training mode (bodies of subgraphs included), modules made
/// for eager-mode quantization, layers of a region whose modules the file does not record, a model
/// that is already quantized.
void warnOfModel(const Graph& graph, std::vector<std::string>& warnings);

/// The modules left in training mode, bodies included, and what they do there; empty without any.
/// Remedy: `kEvaluateFirst`.
std::string inTrainingMode(const Graph& graph);
inline constexpr const char* kEvaluateFirst = "call model.eval() before exporting it";

/// The reason against quantizing a quantized model: how many of its operators quantize, dequantize
/// or compute on integers, bodies of subgraphs included. Empty for a float model.
std::string alreadyQuantized(const Graph& graph);

} // namespace qs
