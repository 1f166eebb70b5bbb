// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_printer.h"

namespace qs {

/// Like `codeLines`, for a lowered graph without its float model. `modules` holds a float node
/// under the id of each kernel that is a module's call, and the other members of fusions; modules
/// print their settings from these nodes.
std::vector<CodeLine> moduleCodeLines(const Graph& graph, const CodeContext& context,
                                      const Graph& modules);

} // namespace qs
