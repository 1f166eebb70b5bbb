// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"

#include <string>

namespace qs {

/// Opens an exported file again, runs one batch through it and holds its outputs against those of
/// the graph that was written (`exportedGraph`). Returns what kept it from being checked, for a
/// warning: a file that this program cannot read back (ONNX), or whose outputs are no tensors, or
/// that draws other random numbers (`drawAlike`); empty where it was checked. Errors (Numeric): it
/// computes something else, 40 dB are asked for.
Result<std::string> checkWritten(const ConvertedModel& converted, const std::string& form,
                                 bool saturates, const std::string& path, const Batch& batch,
                                 const JobContext& job = {});

} // namespace qs
