// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/normalise/torchscript_types.h"

#include <optional>
#include <vector>

namespace qs {

/// What PyTorch itself says of a node's results: their element type and number of dimensions.
struct ProbedValue
{
    DType dtype = DType::Unknown;
    std::optional<std::int64_t> rank; ///< unknown where it depends on the sizes
};

/// Asks the operator, on tensors of the meta device, which hold no elements, so that nothing is
/// computed. Empty where the operands' types and dimensions are not all known, or where the
/// operator has no such kernel. One entry an output; those that are no tensors stay unknown.
std::vector<ProbedValue> probeResults(const Node& node, const TypeOf& typeOf, const RankOf& rankOf);

} // namespace qs
