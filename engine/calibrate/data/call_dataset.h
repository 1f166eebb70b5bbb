// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"

#include <variant>
#include <vector>

namespace qs {

/// One value of a call: a tensor still in its file, or a tensor or number in memory.
using CallValue = std::variant<at::IValue, StoredTensor>;

/// Creates a dataset from calls: one list of inputs per call (tensors, or numbers if the model
/// takes them). `options.batches` limits the calls; `batchSize` is ignored.
Result<std::unique_ptr<Dataset>> makeCallDataset(std::vector<std::vector<CallValue>> calls,
                                                 const Graph& graph, const DatasetOptions& options);

} // namespace qs
