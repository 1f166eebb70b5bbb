// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/edit/edited_model.h"
#include "engine/values/value_inspection.h"

namespace qs {

/// Inspects one value over all data: errors by channel and by sample, divergence, and the weights
/// of its node. Runs float and reference form side by side as `compareModels` does, but only up to
/// the value, so that sums equal the comparison's cumulative error. Memory grows with the data only
/// by some tens of bytes per sample. Device as in `calibrate`. With `edited`, from whose graph the
/// converted model was made, the float side is the file's model before the edits. Fails on an
/// unmeasured node, a node that the file's model does not have, an unknown output, and errors of
/// the data.
Result<ValueInspectionPtr> inspectValue(const ConvertedModel& converted, const Dataset& data,
                                        const InspectionTarget& target, const std::string& device,
                                        const JobContext& job = {},
                                        const EditedModel* edited = nullptr);

/// Returns the value for one sample of the data in both models; runs the sample's batch (for a
/// sequence also all earlier ones). If the value's rows are not samples, returns the value of the
/// whole batch and sets `ofBatch`. Errors as `inspectValue`; also if the sample, plane or result is
/// missing.
Result<SampleValuesPtr> sampleValues(const ConvertedModel& converted, const Dataset& data,
                                     const SampleWanted& wanted, const std::string& device,
                                     const JobContext& job = {},
                                     const EditedModel* edited = nullptr);

} // namespace qs
