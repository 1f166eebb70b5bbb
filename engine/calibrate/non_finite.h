// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/look_queue.h"
#include "engine/execute/interpreter.h"
#include "engine/prepare/prepared_model.h"

#include <cstdint>
#include <vector>

namespace qs {

/// True for a floating tensor with any values.
bool mayBeNonFinite(const at::IValue& value);

/// True for a floating tensor with a NaN or Inf in it.
bool holdsNonFinite(const at::IValue& value);

/// Fails with what the data say of themselves where an input that the prepared graph observes holds
/// NaN or Inf. Others may: a mask of -Inf, say.
Result<void> checkObservedInputs(const Graph& prepared, const Batch& batch);

/// The error of a value that must be finite and is not, seen by an observer or read by the Output
/// node at `found`: the operator where NaN or Inf first appears
/// on the way, found by running the batch once more from `state`; the operators that ask for the
/// value to be quantized, by which argument; and the rule that keeps them float.
Error nonFiniteError(const PreparedModel& prepared, const Interpreter& interpreter,
                     const Batch& batch, const std::vector<at::IValue>& inputs,
                     LookQueue::Place found, ModelState state = {});

} // namespace qs
