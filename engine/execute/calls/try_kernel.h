// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace qs {

/// Calls the operator on these arguments in a copy of the process first. Fails (BadInput) if the
/// copy crashes, or (Unsupported) if the arguments cannot be handed to it. Other failures occur in
/// the real call too, where the kernel itself reports them. Any thread, within `guardTorch`.
Result<void> tryKernel(const c10::OperatorHandle& op, const torch::jit::Stack& given);

} // namespace qs
