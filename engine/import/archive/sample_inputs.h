// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace qs {

/// The leaves of nested tuples, lists and dicts, in Python's pytree order.
std::vector<at::IValue> flattenData(const at::IValue& value);

/// The example inputs that a .pt2 carries, flat, in the order of `graph.inputs()` (arguments the
/// exporter fixed to a constant are left out). The file is `graph.info().path`. Errors: NotFound
/// when the file carries none; BadInput when they do not fit the graph.
Result<std::vector<at::IValue>> readSampleInputs(const Graph& graph);

} // namespace qs
