// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Opens a torch.save file: a tensor, a tuple of tensors or a dictionary of names to tensors (first
/// dimension = samples), or a list (each element one call: a tensor or a tuple). Executes nothing
/// from the file. Accepts only tensors, numbers, tuples, lists and dictionaries; rejects the old
/// format, which is a bare Python pickle.
Result<std::unique_ptr<Dataset>> openTensorFileDataset(const std::string& path, const Graph& graph,
                                                       const DatasetOptions& options);

} // namespace qs
