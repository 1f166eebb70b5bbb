// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"

#include <string>
#include <vector>

namespace qs {

/// A tensor of a data file with the name it has there ("" in files without names).
struct NamedTensor
{
    std::string name;
    StoredTensor stored;
};

/// Data whose first dimension counts samples: matches the tensors to the graph's inputs (by name if
/// all names match, else in order), checks what their headers say, and cuts them into batches, each
/// read and checked for NaN and Inf when it is asked for. A tensor named "labels" that no input is
/// called holds the labels.
Result<std::unique_ptr<Dataset>> makeSampleDataset(std::vector<NamedTensor> tensors,
                                                   const Graph& graph,
                                                   const DatasetOptions& options);

} // namespace qs
