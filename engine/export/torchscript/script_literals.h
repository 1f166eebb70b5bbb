// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace qs {

/// True for values that TorchScript's text can hold; all else is an attribute.
bool isLiteral(const at::IValue& value);
/// An argument without references to values, converted to the type. Enumerations are integers
/// in TorchScript; a number takes the type in the schema.
at::IValue literalOf(const Argument& argument, const c10::TypePtr& type);

} // namespace qs
