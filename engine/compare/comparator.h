// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/compare/sweep/comparison_cache.h"
#include "engine/convert/converted_model.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// One sweep over the data: float and reference form side by side, node by node, streaming sums
/// only, so memory grows with neither samples nor layers; then the lowered form's outputs. The
/// first batch runs once more through both forms, for `Comparison::departures`. Device as in
/// `calibrate`; the lowered form runs on the CPU.
///
/// `from`: the comparison measures only what no earlier one has, running from the last cut before
/// the first node that changed, to the same bits as a whole run; and leaves its own work. Models
/// that keep a state or draw random numbers always run whole.
///
/// `edited`: the comparison is with `edited->file`, the model before its edits, of which
/// `converted` holds the edited one; null: with the model that was converted. Nodes are paired by
/// id, outputs by `outputPlaces`; the cumulative terms alone are measured. Without edits they are
/// those of the ordinary comparison. Errors: the file's model takes an input that the edited one
/// does not.
Result<ComparisonPtr> compareModels(const ConvertedModel& converted, const Dataset& data,
                                    const std::string& device, const JobContext& job = {},
                                    const Continuation* from = nullptr,
                                    const EditedModel* edited = nullptr);

} // namespace qs
