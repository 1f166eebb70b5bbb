// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace qs {

/// Tries the operator on these arguments in a copy of the process. Fails (BadInput) if the copy
/// crashes, or (Unsupported) if the arguments cannot be passed to it. Ignores other failures: they
/// occur in the real call too, which reports them. Any thread, inside `guardTorch`.
Result<void> tryKernel(const c10::OperatorHandle& op, const torch::jit::Stack& given);

} // namespace qs
