// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"

namespace qs {

/// Writes one operator node into the body and binds its outputs. Replaces operators that a plain
/// TorchScript runtime lacks by others with the same results: sizes and Python arithmetic on
/// integers, and the `quantized_decomposed` family. Errors name the node.
Result<void> emitNode(ScriptBuilder& builder, const Node& node);

/// The `quantized_decomposed` part of it. Null when the node is not of that family.
Result<std::vector<ScriptValue*>> emitDecomposed(ScriptBuilder& builder, const Node& node);
bool isDecomposed(const Node& node);

/// Python's arithmetic on sizes ("_operator.mul", "math.ceil", "torch.sym_max").
Result<ScriptValue*> emitScalar(ScriptBuilder& builder, const Node& node);
bool isScalarNode(const Node& node);

} // namespace qs
