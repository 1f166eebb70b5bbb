// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace qs {

/// Returns the leaves of nested tuples, lists and dicts, in Python's pytree order.
std::vector<at::IValue> flattenData(const at::IValue& value);

/// Returns the flattened example inputs of the .pt2 at `graph.info().path`, in the order of
/// `graph.inputs()` (without arguments that the exporter fixed to constants). Fails with NotFound
/// if the file has none, BadInput if they do not match the graph.
Result<std::vector<at::IValue>> readSampleInputs(const Graph& graph);

} // namespace qs
