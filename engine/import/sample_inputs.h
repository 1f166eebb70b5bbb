// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace qs {

/// Reads the tensors of a torch.save file or record: tensors, numbers, strings, tuples, lists and
/// dicts only, nothing in it is executed. Errors (BadInput): anything else.
Result<at::IValue> unpickleData(const std::string& bytes);

/// The leaves of nested tuples, lists and dicts, in Python's pytree order.
std::vector<at::IValue> flattenData(const at::IValue& value);

/// The example inputs that a .pt2 carries, flat, in the order of `graph.inputs()` (arguments the
/// exporter fixed to a constant are left out). The file is `graph.info().path`. Errors: NotFound
/// when the file carries none; BadInput when they do not fit the graph.
Result<std::vector<at::IValue>> readSampleInputs(const Graph& graph);

} // namespace qs
