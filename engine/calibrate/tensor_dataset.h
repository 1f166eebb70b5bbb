// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/dataset.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace qs {

/// A tensor of a data file with the name it has there ("" in files without names).
struct NamedTensor
{
    std::string name;
    at::Tensor tensor;
    std::int64_t rows = 0; ///< first dimension in the file, where only a part was read
};

/// Data whose first dimension counts samples: matches the tensors to the graph's inputs (by name if
/// all names match, else in order), checks them, and cuts them into batches. A tensor named
/// "labels" that no input is called holds the labels.
Result<std::unique_ptr<Dataset>> makeSampleDataset(std::vector<NamedTensor> tensors,
                                                   const Graph& graph,
                                                   const DatasetOptions& options);

/// Data given call by call: one list of inputs a call (tensors, or numbers where the model takes
/// such). `options.batches` limits the calls;
/// `batchSize` is ignored.
Result<std::unique_ptr<Dataset>> makeCallDataset(std::vector<std::vector<at::IValue>> calls,
                                                 const Graph& graph, const DatasetOptions& options);

/// Rows that `options` may need of an input: batch size times batches, where the graph fixes no
/// other batch size; 0 = all.
std::int64_t rowsNeeded(const Graph& graph, const DatasetOptions& options);

} // namespace qs
