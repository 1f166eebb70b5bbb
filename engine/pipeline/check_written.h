// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"

#include <string>

namespace qs {

/// Opens an exported file again, runs one batch through it and compares its outputs with those of
/// the graph that was written (`exportedGraph`). Returns why the file was not checked, for a
/// warning: this program cannot read it back (ONNX), its outputs are not tensors, or it draws other
/// random numbers (`drawAlike`); empty if it was checked. Errors (Numeric): the outputs agree to
/// less than 40 dB.
Result<std::string> checkWritten(const ConvertedModel& converted, const std::string& form,
                                 bool saturates, const std::string& path, const Batch& batch,
                                 const JobContext& job = {});

} // namespace qs
