// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/export/pt2/pt2_arguments.h"

namespace qs {

/// A size as torch.export writes it: a number, or the file's expression with its hint.
Pt2Json pt2Dim(const Dim& dim);
/// The record of a stored tensor: element type, sizes and row-major strides.
Pt2Json pt2HeldTensor(const at::Tensor& tensor, bool requiresGrad);

/// Fills `tensor_values`, `sym_*_values` and `custom_obj_values` of `out` with an entry for every
/// value of `graph`. An entry of `record` (from the original file) is kept if its type still fits.
/// A quantize or dequantize step without a type has its input's shape. Errors (name the node): a
/// tensor of unknown shape, a number without an expression; Cancelled.
Result<void> pt2Values(const Graph& graph, const Pt2Json& record, Pt2Json& out,
                       const JobContext& job);

/// `metadata` of one node: module stack, source line, function, and the node it came from.
Pt2Json pt2NodeMetadata(const Graph& graph, const Node& node);

} // namespace qs
