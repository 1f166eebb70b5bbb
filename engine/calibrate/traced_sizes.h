// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// Adds a hint to an error about sizes if `given`, the inputs of the failing batch, have other
/// sizes than the traced file records: it may contain its example's sizes as constants.
Error withTracedSizes(Error error, const Graph& graph, const std::vector<at::IValue>& given);

} // namespace qs
