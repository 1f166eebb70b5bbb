// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"
#include "engine/convert/quantize_weights.h"
#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Sets the body of every statically quantized custom module to its reference form: values that
/// were observed inside are quantized and dequantized with their parameters, other values over the
/// fixed range of their function.
void quantizeModuleBodies(GraphEdit& edit, const ConvertedModel& model, Saturation saturation);

/// The bodies in reference form with an observer after each value that was observed inside.
std::unordered_map<NodeId, GraphPtr> probedModuleBodies(const ConvertedModel& model);

/// For each custom module of the plan, by node, the function that lowers it. Borrows the model.
std::unordered_map<NodeId, LowerModule> moduleLowerings(const ConvertedModel& model);

} // namespace qs
