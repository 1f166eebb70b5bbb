// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/export/pt2/pt2_arguments.h"

namespace qs {

/// A size as torch.export spells it: a number, or the file's expression with its hint.
Pt2Json pt2Dim(const Dim& dim);
/// The record of a tensor held as data, row-major.
Pt2Json pt2HeldTensor(const at::Tensor& tensor, bool requiresGrad);

/// Fills the graph's `tensor_values`, `sym_*_values` and `custom_obj_values` for every value of
/// `graph`. `record` holds entries of the file the model came from, which are kept where the type
/// still fits. A quantize or dequantize step without a type has its input's shape. Errors: a tensor
/// of unknown shape (names the node); Cancelled.
Result<void> pt2Values(const Graph& graph, const Pt2Json& record, Pt2Json& out,
                       const JobContext& job);

/// `metadata` of one node: module stack, source line, function, and the node it came from.
Pt2Json pt2NodeMetadata(const Graph& graph, const Node& node);

} // namespace qs
