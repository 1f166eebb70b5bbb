// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/qparams.h"
#include "engine/graph/graph.h"

#include <optional>
#include <vector>

namespace qs {

/// How a node of an already quantized model quantizes: the value it makes, the weight it holds.
struct StoredQParams
{
    NodeId node;
    std::optional<QParams> output, weight;
};

/// Reads them off the file: the arguments of quantize (PT2E, `quantized_decomposed`), of
/// `quantized::` operators, and their packed weights. In graph order, nodes without any left
/// out. Parameters known only at run time are left out. Errors: a weight that cannot be
/// read.
Result<std::vector<StoredQParams>> storedQParams(const Graph& graph);

/// LibTorch's operator that reads a property of a packed weight of that type ("unpack", "stride",
/// "groups"); empty without one.
std::string packedOperator(const std::string& type, const std::string& what);

} // namespace qs
