// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// Returns the text form: one line per node, in stable order. `parseGraph` turns it back into an
/// equal graph (ids, scopes, types, origins; tensors by key). For tests and dumps.
std::string printGraph(const Graph& graph);

/// "input", "parameter", "constant", "op", "module_call", "output": the node kinds in the text
/// form.
std::string_view nodeKindName(NodeKind kind);

/// One argument as FX prints it: a value's name, a literal, a list.
std::string printArgument(const Graph& graph, const Argument& argument);

} // namespace qs
