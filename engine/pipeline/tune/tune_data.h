// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/pipeline/tune/tune.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// A batch with what the float model makes of it.
struct CleanBatch
{
    Batch batch;
    std::vector<at::Tensor> outputs;
    bool isGuard = false;
};

/// The data that a search measures on: every fourth batch is the guard. A value.
struct TuneData
{
    std::vector<CleanBatch> batches;
    std::shared_ptr<const Dataset> search; ///< the batches that are not the guard's
    std::int64_t searchSamples = 0, guardSamples = 0;
    std::vector<std::string> notes; ///< sentences on what was left out

    std::int64_t samples() const { return searchSamples + guardSamples; }
};

/// Reads the compared data, up to `TuneRequest::samples`, cuts them into eight batches and more
/// where they allow it, and runs the float model. Samples on which its outputs are not finite are
/// left out; the whole batch where the model fixes its batches, or where an output does not have a
/// row for each sample. Only what is left counts. `names`: of the outputs. Errors: the data's; no
/// sample is left; no guard; no output that can be measured; a cancel.
Result<TuneData> readTuneData(StageChain& chain, const TuneRequest& request, const GraphPtr& model,
                              const std::vector<std::string>& names, const JobContext& job);

} // namespace qs
