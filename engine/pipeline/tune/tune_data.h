// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/pipeline/tune/tune.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace qs {

inline constexpr std::int64_t kLeastGuard = 8; ///< least samples of a guard that decides alone

/// Whether the guard is too small to decide alone, so that all samples do.
inline bool holdsAll(std::int64_t guardSamples)
{
    return guardSamples < kLeastGuard;
}

/// A batch with the float model's outputs.
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
    std::shared_ptr<const Dataset> all; ///< all batches, in order
    std::int64_t searchSamples = 0, guardSamples = 0;
    std::vector<std::string> notes; ///< sentences on what was left out

    std::int64_t samples() const { return searchSamples + guardSamples; }
};

/// Reads the compared data, at most `TuneRequest::samples`, in eight or more batches if possible,
/// and runs the float model. Leaves out samples for which outputs are not finite; leaves out the
/// whole batch if the model fixes the batch size or an output does not have one row per sample.
/// `names`: of the outputs. Errors: those of the data; no sample is left; no guard; no output that
/// can be measured; Cancelled.
Result<TuneData> readTuneData(StageChain& chain, const TuneRequest& request, const GraphPtr& model,
                              const std::vector<std::string>& names, const JobContext& job);

} // namespace qs
