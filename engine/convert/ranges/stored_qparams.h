// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/qparams.h"
#include "engine/graph/graph.h"

#include <optional>
#include <vector>

namespace qs {

/// Quantization parameters of a node of an already quantized model: of its result and of its
/// weight.
struct StoredQParams
{
    NodeId node;
    std::optional<QParams> output, weight;
};

/// Reads the parameters from a quantized model's graph: arguments of quantize steps (PT2E,
/// `quantized_decomposed`) and of `quantized::` operators, and their packed weights. In graph
/// order; omits nodes without parameters and parameters known only at run time. Fails if a weight
/// cannot be read.
Result<std::vector<StoredQParams>> storedQParams(const Graph& graph);

/// Returns LibTorch's operator that reads a property ("unpack", "stride", "groups") of a packed
/// weight of that type; empty if none.
std::string packedOperator(const std::string& type, const std::string& what);

} // namespace qs
