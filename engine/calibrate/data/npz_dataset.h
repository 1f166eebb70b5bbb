// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Opens an .npz (see `openDataset`); each batch reads its rows from the file.
Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string& path, const Graph& graph,
                                                const DatasetOptions& options);

} // namespace qs
