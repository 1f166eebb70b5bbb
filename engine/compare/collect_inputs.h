// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/edit/edited_model.h"

#include <string>
#include <vector>

namespace qs {

/// Runs all data of the whole model up to the part that an edit extracted, and writes the values of
/// the part's inputs as an .npz: one array per input by its name, a sample a row, and `labels`
/// where the data has any. Works batch by batch; the file appears whole or not at all. Errors:
/// nothing was extracted; an input whose first dimension is not the sample, naming it.
Result<void> writePartInputs(const EditedModel& part, const Dataset& data, const std::string& path,
                             const JobContext& job = {});

/// Batches of the whole model as those of the part; the batches themselves where `part` is null or
/// nothing was extracted. May throw c10::Error (call under guardTorch). Errors: those of the run.
Result<std::vector<Batch>> partBatches(const EditedModelPtr& part, std::vector<Batch> batches,
                                       bool isSequence, const JobContext& job = {});

} // namespace qs
