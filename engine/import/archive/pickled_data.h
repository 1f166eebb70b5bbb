// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/ivalue.h>

#include <string>

namespace qs {

/// The tensors, numbers and plain containers that `torch.save` wrote into these bytes. Whatever the
/// bytes claim, no tensor reaches beyond what they hold. Errors: bytes that are something else or
/// hold objects of other classes.
Result<at::IValue> unpickleData(const std::string& bytes);

/// The same for what may be an object of a C++ class that a loaded library registered: the class's
/// own code builds it of its state.
Result<at::IValue> unpickleObject(const std::string& bytes);

} // namespace qs
