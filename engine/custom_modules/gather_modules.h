// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// Replaces each call of a gathered custom module (`CustomModule::isGathered`) by one
/// `kModuleTarget` node over a graph of its operators. Its arguments are lists: `inputs`, the outer
/// tensors in order of first use; `params`, its stored tensors; `sizes`, outer numbers. Together
/// they are the body's inputs; the target of a stored tensor's input is its path within the module.
/// A call that cannot be one node (it changes a buffer, or its result is an operand of it) is
/// unchanged, with a log line. Returns the graph itself without such calls.
Result<GraphPtr> gatherModules(GraphPtr graph);

/// The operands of a gathered node.
struct GatheredArguments
{
    explicit GatheredArguments(const Node& node)
        : GatheredArguments(node, node)
    {
    }
    /// Reads the operands of `now`, a node with the same arguments; names are those of the body of
    /// `gathered`.
    GatheredArguments(const Node& gathered, const Node& now);

    std::vector<ValueRef> inputs;
    std::map<std::string, ValueRef> parameters;
    std::vector<std::string> parameterNames;
};

} // namespace qs
