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

/// Findings of a run beside the statistics.
struct RunFindings
{
    RecordedShapes shapes; ///< that saw every value
    std::vector<NonFiniteValue> nonFinite; ///< of the batch that made it fail
};

/// Runs the data through the prepared graph and lets every observer see its value, the weights
/// included. NaN or Inf in an observed value or in an output is an error that names the node and
/// the batch; `findings` gets all such observed values of that batch. With a checkpoint it goes on
/// from the saved statistics, and saves its own from time to time and when it is cancelled; a
/// sequence, whose model keeps a state, starts over.
Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job = {},
                                  const Checkpoint* checkpoint = nullptr,
                                  RunFindings* findings = nullptr);

} // namespace qs
