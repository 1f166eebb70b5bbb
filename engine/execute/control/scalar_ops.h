// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace qs {

/// True for Python's operators on sizes and other scalars, which .pt2 files hold as nodes:
/// "_operator.floordiv", "torch.sym_max", "math.ceil", "builtins.round", ...
bool isScalarOp(std::string_view target);

/// Computes one of them with Python's rules (floor division, true division, arbitrary mix of int,
/// float, bool). Errors: a division by zero, an overflow, a wrong number of arguments.
Result<at::IValue> runScalarOp(std::string_view target, const std::vector<at::IValue>& args);

} // namespace qs
