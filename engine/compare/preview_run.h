// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/preview.h"
#include "engine/compare/sweep/kept_work.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// One batch through the reference form, against the float model's values. Of `converted` only the
/// reference form is read. The figures are those of `compareModels` over the same batch, but for
/// the outputs, which are of the form that was run rather than of the exported one.
///
/// `from` (its `batches` is 1): the float model's values, values at cuts of the reference form and
/// sums are kept there, and a later call runs from the last cut before the first node that changed.
/// Without it, on a GPU, and for models that keep a state or draw random numbers both forms run
/// whole.
Result<Preview> previewErrors(const ConvertedModel& converted, const Batch& batch,
                              const std::string& device, const JobContext& job = {},
                              const Continuation* from = nullptr);

/// How many samples a preview may take so that the float model's values that it keeps fit into
/// `bytes`, as far as the graph tells its sizes: at least 1, at most `most`. The same whatever is
/// decided.
std::int64_t previewSamples(const Graph& model, std::size_t bytes, std::int64_t most);

} // namespace qs
