// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <string_view>

namespace qs {

/// Records the file's attribute ("conv_input_scale_0") that a numeric argument was read from, as
/// "scale=conv_input_scale_0" in `Node::argumentStrings` (otherwise used by opaque nodes only).
void noteNumberAttribute(Node& node, std::string_view argument, const std::string& path);

/// Returns the root attribute that the number is read from: the recorded one, or the stored tensor
/// converted to this number. Empty for literals and attributes of other modules.
std::string numberAttribute(const Graph& graph, const Node& node, const NamedArgument& argument);

/// Returns the step that chooses a quantize step's parameters at run time; null without one, or if
/// others read it too.
const Node* choiceOf(const Graph& graph, const Node& quantize);
/// Returns the only quantize step that reads a choice of parameters; null if it has other
/// consumers.
const Node* quantizeOf(const Graph& graph, const Node& choice);

} // namespace qs
