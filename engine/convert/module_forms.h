// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"
#include "engine/convert/quantize_weights.h"
#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Gives every custom module that the plan quantizes statically its body in reference form: each
/// value that was observed inside is quantized and dequantized, others over the fixed range of
/// their function.
void quantizeModuleBodies(GraphEdit& edit, const ConvertedModel& model, Saturation saturation);

/// The bodies in reference form with an observer after each value that was observed inside.
std::unordered_map<NodeId, GraphPtr> probedModuleBodies(const ConvertedModel& model);

/// By node, how the plan's custom modules are lowered. Borrows the model.
std::unordered_map<NodeId, LowerModule> moduleLowerings(const ConvertedModel& model);

} // namespace qs
