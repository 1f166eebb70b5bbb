// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/device_choice.h"
#include "engine/calibrate/non_finite.h"
#include "engine/calibrate/observations.h"
#include "engine/calibrate/observed_shapes.h"
#include "engine/prepare/prepared_model.h"

#include <string>
#include <vector>

namespace qs {

class Checkpoint;
class RangeRecorder;

/// Findings of a run in addition to the statistics.
struct RunFindings
{
    RecordedShapes shapes; ///< compared with every value
    std::vector<NonFiniteValue> nonFinite; ///< non-finite values of the failing batch
    RangeRecorder* ranges = nullptr; ///< receives the observers between batches; may be null
};

/// Runs the data through the prepared graph; every observer observes its value, including weights.
/// NaN or Inf in an observed value or an output is an error that names the node and the batch;
/// `findings` receives all such observed values of that batch. With a checkpoint, continues from
/// the saved statistics, and saves its own periodically and on cancellation. A sequence starts
/// over, since its model has state.
Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job = {},
                                  const Checkpoint* checkpoint = nullptr,
                                  RunFindings* findings = nullptr);

} // namespace qs
