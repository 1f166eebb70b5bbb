// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// Runs one form on the CPU over all data and returns the errors of its outputs against the float
/// model (only `cumulative` is set), in the order of `outputNames`. An output that is not floating
/// point, or has another shape in the form, has no error. `edits`: edits of the form; null without.
Result<std::vector<OutputError>> outputErrors(const GraphPtr& model, const GraphPtr& form,
                                              const EditedModelPtr& edits, const Dataset& data,
                                              const JobContext& job = {});

} // namespace qs
