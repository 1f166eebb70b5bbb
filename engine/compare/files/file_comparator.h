// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/files/file_comparison.h"

namespace qs {

/// Runs a float model and a quantized one on the data, side by side: a value is freed as soon as
/// its counterpart was compared. Quantized tensors are dequantized before they are
/// compared. On the CPU. Errors: models with different numbers of inputs; those of the runs.
Result<FileComparison> compareFiles(const GraphPtr& floating, const GraphPtr& converted,
                                    const Dataset& data, const JobContext& job = {});

} // namespace qs
