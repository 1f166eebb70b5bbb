// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"

namespace qs {

/// Whether TorchScript has an overload of the operator that takes these values, in the order of
/// `schema`'s arguments, without converting one. A number may stand for a tensor in Python; here
/// only where such an overload takes it: `sub(Tensor, Scalar)`, but not `sub(Scalar, Tensor)`.
bool hasOverload(const c10::FunctionSchema& schema, const std::vector<ScriptValue*>& inputs);

/// A number as a tensor without dimensions whose type makes the result's what the number would
/// have made it: that of the operator's other tensors, for they have precedence, or float32 for a
/// fraction among integers (PyTorch's `result_type`).
ScriptValue* tensorOfNumber(ScriptBuilder& builder, const Node& node, ScriptValue* number);

/// Truth values where the schema wants numbers become 0 and 1, as TorchScript takes none there.
/// True if there were any: the result of what was all truth is a number then.
bool numbersOfTruth(ScriptBuilder& builder, const c10::FunctionSchema& schema,
                    std::vector<ScriptValue*>& inputs);

} // namespace qs
