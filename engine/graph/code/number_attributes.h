// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <string_view>

namespace qs {

/// Notes from which attribute of the file, "conv_input_scale_0", a number among the node's
/// arguments was read: "scale=conv_input_scale_0" in `Node::argumentStrings`, which else are those
/// of opaque nodes.
void noteNumberAttribute(Node& node, std::string_view argument, const std::string& path);

/// The attribute of the root that the number is read from: as noted, or the stored tensor that is
/// turned into a number. Empty for literals, and for attributes of other modules.
std::string numberAttribute(const Graph& graph, const Node& node, const NamedArgument& argument);

/// A quantize step whose parameters are chosen at run time for it alone: the step that chooses
/// them. Null for all else.
const Node* choiceOf(const Graph& graph, const Node& quantize);
/// The quantize step that a choice is for alone; null where others read it too.
const Node* quantizeOf(const Graph& graph, const Node& choice);

} // namespace qs
