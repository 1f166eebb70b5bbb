// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/device_observation_queue.h"
#include "engine/execute/interpreter.h"
#include "engine/prepare/prepared_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// True for a non-empty floating-point tensor.
bool mayBeNonFinite(const at::IValue& value);

/// True for a floating-point tensor that contains NaN or Inf.
bool holdsNonFinite(const at::IValue& value);

/// Fails with the data's error if an observed input of the prepared graph contains NaN or +Inf.
/// Other inputs may contain them, and any may contain -Inf (a mask).
Result<void> checkObservedInputs(const Graph& prepared, const Batch& batch);

/// A non-finite value at an observer.
struct NonFiniteValue
{
    std::string name; ///< name of its float producer
    std::string seen; ///< "-Inf in batch 1, first in 'log' (aten.log.default of module 'bias')"
};

/// The non-finite values of a batch.
struct NonFinite
{
    /// Error for the first place: the operator that first computes NaN or Inf on the path; the
    /// operators and arguments that require the value to be quantized; and the rule that keeps them
    /// float.
    Error error;
    /// For all places except outputs and the interior of modules.
    std::vector<NonFiniteValue> values;
};

/// Finds the non-finite values at `places` (observers or the Output node; not empty) of one batch.
/// Reruns the batch from `state`.
NonFinite findNonFinite(const PreparedModel& prepared, const Interpreter& interpreter,
                        const Batch& batch, const std::vector<at::IValue>& inputs,
                        const std::vector<DeviceObservationQueue::Place>& places,
                        ModelState state = {});

} // namespace qs
