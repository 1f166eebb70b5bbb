// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"
#include "engine/graph/node.h"

namespace qs {

/// True for operators that run subgraphs and that TorchScript can spell: cond (prim::If),
/// while_loop, map and scan (prim::Loop), and the branches and loops that came from TorchScript.
bool isControlOperator(const Node& node);

/// Emits such a node with its subgraphs as blocks; returns its outputs. Errors say what TorchScript
/// cannot express.
Result<std::vector<ScriptValue*>> emitControl(ScriptBuilder& builder, const Node& node);

} // namespace qs
