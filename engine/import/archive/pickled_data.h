// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/ivalue.h>

#include <string>

namespace qs {

/// Returns the tensors, numbers and plain containers that `torch.save` wrote into these bytes.
/// Tensors never exceed the bytes, even in a manipulated file. Fails if the bytes have another
/// format or contain objects of other classes.
Result<at::IValue> unpickleData(const std::string& bytes);

/// The same, and also accepts objects of a C++ class that a loaded library registered: the class's
/// code restores them from their state.
Result<at::IValue> unpickleObject(const std::string& bytes);

} // namespace qs
