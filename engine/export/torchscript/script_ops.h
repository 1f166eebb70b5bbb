// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"

namespace qs {

/// Writes one operator node into the body and binds its outputs. Replaces operators that a plain
/// TorchScript runtime lacks by others with the same results: sizes and Python arithmetic on
/// integers, and the `quantized_decomposed` family. Errors name the node.
Result<void> emitNode(ScriptBuilder& builder, const Node& node);

/// Emits a node for which `isDecomposed` is true. Fails (Unsupported) for an operator of the family
/// that has no TorchScript form.
Result<std::vector<ScriptValue*>> emitDecomposed(ScriptBuilder& builder, const Node& node);
bool isDecomposed(const Node& node);

/// Python's arithmetic on sizes ("_operator.mul", "math.ceil", "torch.sym_max").
Result<ScriptValue*> emitScalar(ScriptBuilder& builder, const Node& node);
bool isScalarNode(const Node& node);

} // namespace qs
