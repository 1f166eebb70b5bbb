// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// The example inputs stored in the model's own file, as one call. The error (BadInput) says when
/// there are none.
Result<std::unique_ptr<Dataset>> openSampleDataset(const Graph& graph,
                                                   const DatasetOptions& options);

} // namespace qs
