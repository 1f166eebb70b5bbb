// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/preview.h"
#include "engine/compare/sweep/comparison_cache.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Runs one batch through the reference form and compares it with the float model's values. Reads
/// only the reference form of `converted`. Results equal those of `compareModels` over the same
/// batch, except for the outputs, which are those of the reference form, not the exported one.
///
/// `from` (its `batches` is 1) caches the float model's values, values at cuts of the reference
/// form and sums; a later call runs from the last cut before the first changed node.
/// Without it, on a GPU, and for models that keep a state or draw random numbers both forms run
/// whole.
Result<Preview> previewErrors(const ConvertedModel& converted, const Batch& batch,
                              const std::string& device, const JobContext& job = {},
                              const Continuation* from = nullptr);

/// Number of samples of a preview whose kept values of the float model fit into `bytes`, by
/// the sizes that the graph states: at least 1, at most `most`. Does not depend on
/// decisions.
std::int64_t previewSamples(const Graph& model, std::size_t bytes, std::int64_t most);

} // namespace qs
