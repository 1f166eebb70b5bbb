// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace qs {

/// True for values that TorchScript's code can contain; other values become attributes.
bool isLiteral(const at::IValue& value);
/// An argument without references to values, converted to `type`, the type in the schema.
/// Enumerations become integers, as in TorchScript.
at::IValue literalOf(const Argument& argument, const c10::TypePtr& type);

} // namespace qs
