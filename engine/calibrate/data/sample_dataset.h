// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Returns the example inputs stored in the model's file, as one call. Fails (BadInput) if the file
/// has no such inputs.
Result<std::unique_ptr<Dataset>> openSampleDataset(const Graph& graph,
                                                   const DatasetOptions& options);

} // namespace qs
