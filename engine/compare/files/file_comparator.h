// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/files/file_comparison.h"

namespace qs {

/// Runs a float model and a quantized one on the data, step by step and side by side: values wait
/// only until their counterpart is there. Quantized tensors are dequantized before they are
/// compared. On the CPU. Errors: models with different numbers of inputs; those of the runs.
Result<FileComparison> compareFiles(const GraphPtr& floating, const GraphPtr& converted,
                                    const Dataset& data, const JobContext& job = {});

} // namespace qs
