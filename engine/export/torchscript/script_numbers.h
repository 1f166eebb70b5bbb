// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"

namespace qs {

/// Whether TorchScript has an overload of the operator that takes these values, in the order of
/// `schema`'s arguments, without converting one. Python accepts a number for a tensor; TorchScript
/// only with such an overload: `sub(Tensor, Scalar)`, but not `sub(Scalar, Tensor)`.
bool hasOverload(const c10::FunctionSchema& schema, const std::vector<ScriptValue*>& inputs);

/// A number as a 0-dimensional tensor of a type that leaves the result's type unchanged: the type
/// of the operator's other tensors, which have precedence, or float32 for a fraction among integers
/// (PyTorch's `result_type`).
ScriptValue* tensorOfNumber(ScriptBuilder& builder, const Node& node, ScriptValue* number);

/// Converts truth values to 0 and 1 where the schema requires numbers, since TorchScript does not.
/// True if there were any: the result of all truth values is then a number.
bool numbersOfTruth(ScriptBuilder& builder, const c10::FunctionSchema& schema,
                    std::vector<ScriptValue*>& inputs);

} // namespace qs
