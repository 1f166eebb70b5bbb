// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/graph/output_names.h"

#include <string>

namespace qs {

/// Runs all data through the graph on the CPU and writes its outputs as an .npz: one array per
/// tensor output, the batches joined along the first dimension, named as `names` gives (one per
/// output), and `labels` where the data has any. An output whose other dimensions differ from batch
/// to batch becomes one array per batch: NAME.0, NAME.1. Keeps all outputs in memory.
Result<void> writeOutputs(GraphPtr graph, const Dataset& data,
                          const std::vector<std::string>& names, const std::string& path,
                          const JobContext& job = {});

} // namespace qs
