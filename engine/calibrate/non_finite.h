// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"

#include <optional>
#include <string>

namespace qs {

/// True for a floating tensor with any values.
bool mayBeNonFinite(const at::IValue& value);

/// True for a floating tensor with a NaN or Inf in it.
bool holdsNonFinite(const at::IValue& value);

/// The node where NaN or Inf first appears on the way to `reached`: runs the batch once more and
/// returns the first node, in execution order and among those `reached` depends on, whose output is
/// not finite. Falls back to `reached` itself. `state` is what the batch started from.
NodeId firstNonFinite(const Interpreter& interpreter, const std::vector<at::IValue>& inputs,
                      NodeId reached, ModelState state = {});

} // namespace qs
