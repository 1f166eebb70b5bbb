// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

namespace qs {

/// The first dimension of an input where the graph fixes it.
std::optional<std::int64_t> fixedBatch(const Node& input);

/// Whether a tensor fits a model input: type, rank, fixed dimensions (the first one only when
/// `checkFirst`), finite values. `what` names the tensor in the error ("array 'x'").
Result<void> checkInput(const at::Tensor& tensor, const Node& input, const std::string& what,
                        bool checkFirst);

} // namespace qs
