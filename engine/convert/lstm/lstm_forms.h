// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/converted_model.h"
#include "engine/graph/graph_edit.h"

#include <unordered_map>

namespace qs {

/// Gives every LSTM of the plan that is quantized from within its body in reference form: each
/// value that was observed inside is quantized and dequantized, gates over the fixed range of their
/// function.
void quantizeLstmBodies(GraphEdit& edit, const ConvertedModel& model);

/// The bodies of the same LSTMs in LibTorch's quantized kernels (torch.ao
/// `torch.ao.nn.quantized.LSTM`), by node. They take and give quantized tensors; a cell's
/// parameters are two packed linears.
std::unordered_map<NodeId, GraphPtr> quantizedLstmBodies(const ConvertedModel& model);

/// The bodies in reference form with an observer behind each value that was observed inside.
std::unordered_map<NodeId, GraphPtr> probedLstmBodies(const ConvertedModel& model);

/// Inserts, before the node, an LSTM with that body, which reads the quantized values and packs the
/// quantized weights. Errors (Unsupported) say what is not quantized; the draft is then as before,
/// unused nodes apart.
Result<NodeId> emitQuantizedLstm(GraphEdit& edit, NodeId lstm, const GraphPtr& body);

} // namespace qs
