// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/edit/edited_model.h"
#include "engine/values/value_inspection.h"

namespace qs {

/// Inspects one value over all of the data: by channel, by sample, its divergence, and the weights
/// of its node. Float and reference form run side by side as in `compareModels`, only up to there,
/// so that the sums are the comparison's cumulative error. The memory does not grow with the data
/// but for some tens of bytes a sample. Device as in `calibrate`. With `edited`, whose graph the
/// converted model was made from, the float side is the file's model as it was before the edits.
/// Errors: a node that is not measured, one that the file's model does not have, an unknown output,
/// those of the data.
Result<ValueInspectionPtr> inspectValue(const ConvertedModel& converted, const Dataset& data,
                                        const InspectionTarget& target, const std::string& device,
                                        const JobContext& job = {},
                                        const EditedModel* edited = nullptr);

/// The value for one sample of the data in both models; runs the batch that holds it (of a sequence
/// all before it too). If the value's rows are not samples, returns that of the whole batch and
/// sets `ofBatch`. Errors: as above; no such sample, plane or result.
Result<SampleValuesPtr> sampleValues(const ConvertedModel& converted, const Dataset& data,
                                     const SampleWanted& wanted, const std::string& device,
                                     const JobContext& job = {},
                                     const EditedModel* edited = nullptr);

} // namespace qs
