// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/device_choice.h"
#include "engine/calibrate/observations.h"
#include "engine/calibrate/run/observed_run.h"
#include "engine/prepare/prepared_model.h"

#include <string>

namespace qs {

class Checkpoint;
class Group;
class RangeRecorder;

/// What a calibration uses besides model and data; each may be null. Borrowed.
struct CalibrationOptions
{
    /// Continues from its statistics; the run saves its own there periodically and on cancellation.
    /// A sequence starts over, since its model has state.
    const Checkpoint* checkpoint = nullptr;
    RunFindings* findings = nullptr;
    RangeRecorder* ranges = nullptr; ///< receives the observers between batches
    /// The ranks that share the batches (`Relay`); null: this process runs all of them.
    Group* group = nullptr;
};

/// Runs the data through the prepared graph; every observer observes its value, including weights.
/// NaN or Inf in an observed value or an output is an error that names the node and the batch; the
/// findings receive all such observed values of that batch. With a group, each rank runs its
/// batches and returns the statistics of all, which equal those of one process with as many threads
/// to the bit; only rank 0 reads and writes the checkpoint. Errors: a sequence with a group
/// (Usage).
Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job = {},
                                  const CalibrationOptions& options = {});

} // namespace qs
