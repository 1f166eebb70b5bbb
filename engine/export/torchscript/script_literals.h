// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace qs {

/// True for what TorchScript's text holds as it is; all else is an attribute.
bool isLiteral(const at::IValue& value);
/// An argument that holds no value of the graph, as a place of that type takes it. Enumerations
/// travel as integers in TorchScript; a number takes the type the schema asks for.
at::IValue literalOf(const Argument& argument, const c10::TypePtr& type);

} // namespace qs
