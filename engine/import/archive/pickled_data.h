// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/ivalue.h>

#include <string>

namespace qs {

/// The tensors, numbers and plain containers that `torch.save` wrote into these bytes. No tensor
/// reaches beyond the bytes, whatever they claim. Errors: the bytes are something else or hold
/// objects of other classes.
Result<at::IValue> unpickleData(const std::string& bytes);

/// The same, also for objects of a C++ class that a loaded library registered: the class's own code
/// builds them from their state.
Result<at::IValue> unpickleObject(const std::string& bytes);

} // namespace qs
