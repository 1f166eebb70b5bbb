// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"

#include <variant>
#include <vector>

namespace qs {

/// One value of a call: a tensor that is still in its file, or a tensor or number at hand.
using CallValue = std::variant<at::IValue, StoredTensor>;

/// Data given call by call: one list of inputs a call (tensors, or numbers where the model takes
/// such). `options.batches` limits the calls; `batchSize` is ignored.
Result<std::unique_ptr<Dataset>> makeCallDataset(std::vector<std::vector<CallValue>> calls,
                                                 const Graph& graph, const DatasetOptions& options);

} // namespace qs
