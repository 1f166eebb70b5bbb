// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// The example inputs stored in the model's own file, as one call. Fails (BadInput) without
/// any.
Result<std::unique_ptr<Dataset>> openSampleDataset(const Graph& graph,
                                                   const DatasetOptions& options);

} // namespace qs
