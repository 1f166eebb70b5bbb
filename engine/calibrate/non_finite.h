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

/// True for a floating tensor with any values.
bool mayBeNonFinite(const at::IValue& value);

/// True for a floating tensor with a NaN or Inf in it.
bool holdsNonFinite(const at::IValue& value);

/// Fails with the data's own error if an input that the prepared graph observes holds NaN or +Inf.
/// Other inputs may hold them, and any may hold -Inf (a mask).
Result<void> checkObservedInputs(const Graph& prepared, const Batch& batch);

/// A value that is not finite where an observer saw it.
struct NonFiniteValue
{
    std::string name; ///< of the float node that makes it
    std::string seen; ///< "-Inf in batch 1, first in 'log' (aten.log.default of module 'bias')"
};

/// The values of a batch that are not finite.
struct NonFinite
{
    /// Of the first place: the operator where NaN or Inf first appears on the way; the operators
    /// that ask for the value to be quantized, by which argument; and the rule that keeps them
    /// float.
    Error error;
    std::vector<NonFiniteValue> values; ///< of all places but the outputs and inside modules
};

/// Finds the non-finite values at `places` (of observers or the Output node; not empty) of one
/// batch. Runs the batch once more from `state`.
NonFinite findNonFinite(const PreparedModel& prepared, const Interpreter& interpreter,
                        const Batch& batch, const std::vector<at::IValue>& inputs,
                        const std::vector<DeviceObservationQueue::Place>& places,
                        ModelState state = {});

} // namespace qs
