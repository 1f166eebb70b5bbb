// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/plan/cures/layer_numbers.h"

#include <string>
#include <vector>

namespace qs {

/// What to choose for which layers.
struct CorrectionOptions
{
    bool round = true; ///< which way each weight is rounded (`roundWeight`)
    bool shift = true; ///< what is added to each bias, against the mean error of its layer
    /// The layers that carry a quantized weight; empty: all of the model.
    std::vector<NodeId> layers;
    std::int64_t samples = 64; ///< at most this many, in whole batches
};

/// Numbers for one layer, and what they gain there.
struct CorrectedLayer
{
    LayerNumbers numbers;
    /// Noise over signal of the layer's result with the converted model's input, as it was and with
    /// these numbers.
    double noiseBefore = 0, noiseAfter = 0;
};

struct Corrections
{
    std::vector<CorrectedLayer> layers; ///< in graph order
    std::vector<std::string> leftOut; ///< layers that cannot be corrected: one sentence each
};

/// Chooses the numbers of layers so that each one's result is as near as possible to the float
/// model's, while it reads what the converted model computes before it, corrected layers included.
/// Both forms run node by node over all samples at once, so memory grows with the samples: twice
/// the live values of all of them. Deterministic for the same data and threads. Runs on the CPU.
/// Errors: the run's; data that are a sequence (Unsupported); Cancelled.
Result<Corrections> correctLayers(const ConvertedModel& converted, const Dataset& data,
                                  const CorrectionOptions& options, const JobContext& job = {});

} // namespace qs
