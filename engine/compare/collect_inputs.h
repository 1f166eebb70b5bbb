// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/edit/edited_model.h"

#include <string>
#include <vector>

namespace qs {

/// Runs the whole model on all data up to the part that an edit extracted, and writes the values of
/// the part's inputs as an .npz: one array per input by its name, one row per sample, and `labels`
/// if the data have any. Works batch by batch; writes the file atomically. Errors:
/// nothing was extracted; an input whose first dimension is not the sample, naming it.
Result<void> writePartInputs(const EditedModel& part, const Dataset& data, const std::string& path,
                             const JobContext& job = {});

/// Converts batches of the whole model to batches of the part; returns them unchanged if `part` is
/// null or nothing was extracted. May throw c10::Error (call under guardTorch). Errors: the run's.
Result<std::vector<Batch>> partBatches(const EditedModelPtr& part, std::vector<Batch> batches,
                                       bool isSequence, const JobContext& job = {});

} // namespace qs
