// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/compare/sweep/comparison_cache.h"
#include "engine/convert/converted_model.h"
#include "engine/distribute/group.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// What a comparison measures, and what it may reuse.
struct ComparisonOptions
{
    /// Not null: measures only units that no earlier comparison measured, running from the last cut
    /// before the first changed node; results equal those of a whole run to the bit. Adds its own
    /// results to the cache. Models that keep a state or draw random numbers always run whole.
    const Continuation* from = nullptr;
    /// Not null: compares with `edited->file`, the model before the edits (`converted` holds the
    /// edited one); null: with the model that was converted. Pairs nodes by id, outputs by
    /// `outputPlaces`; measures only the cumulative terms. Without edits these equal the ordinary
    /// comparison's.
    const EditedModel* edited = nullptr;
    /// Measures the local terms on every batch; else on as many as their standard error asks for
    /// (`LocalSample`). Models that keep a state or draw random numbers: always on every batch.
    bool allLocalTerms = false;
    /// The ranks that share the batches (`Relay`); null: this process runs all of them. Each
    /// returns the same result, that of one process with as many threads; departures on rank 0
    /// only, and each rank's own times.
    Group* group = nullptr;
};

/// One sweep over the data: float and reference form side by side, node by node, streaming sums
/// only, so memory grows with neither samples nor layers; then the lowered form's outputs. The
/// first batch runs once more through both forms, for `Comparison::departures`. Device as in
/// `calibrate`; the lowered form runs on the CPU. Errors: `edited->file` takes an input that the
/// edited model does not; a sequence with a group (Usage).
Result<ComparisonPtr> compareModels(const ConvertedModel& converted, const Dataset& data,
                                    const std::string& device,
                                    const ComparisonOptions& options = {},
                                    const JobContext& job = {});

} // namespace qs
