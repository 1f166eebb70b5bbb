// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"
#include "engine/graph/node.h"

namespace qs {

/// True for the nodes that make or unpack tuples, lists and dicts, and for those that raise
/// (engine/execute/control/script_control.h).
bool isScriptContainer(const Node& node);

/// Emits such a node and returns its outputs. Errors say what TorchScript cannot express.
Result<std::vector<ScriptValue*>> emitContainer(ScriptBuilder& builder, const Node& node);

} // namespace qs
