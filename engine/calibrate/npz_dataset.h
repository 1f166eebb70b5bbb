// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/dataset.h"

namespace qs {

/// An .npz as `openDataset` describes it; reads only the rows that the options ask for.
Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string& path, const Graph& graph,
                                                const DatasetOptions& options);

} // namespace qs
