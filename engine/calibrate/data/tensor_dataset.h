// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"

#include <string>
#include <vector>

namespace qs {

/// A tensor of a data file with its name ("" in files without names).
struct NamedTensor
{
    std::string name;
    StoredTensor stored;
};

/// Creates a dataset from tensors whose first dimension is the sample. Matches them to the graph's
/// inputs (by name if all names match, else in order), checks their headers, and divides them into
/// batches, which are read and checked for NaN and Inf on demand. A tensor "labels" contains the
/// labels, unless an input has this name.
Result<std::unique_ptr<Dataset>> makeSampleDataset(std::vector<NamedTensor> tensors,
                                                   const Graph& graph,
                                                   const DatasetOptions& options);

} // namespace qs
