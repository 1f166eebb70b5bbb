// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// Makes each call of a custom module that is gathered (`CustomModule::isGathered`) one
/// `kModuleTarget` node over a graph of its operators. Its arguments are lists: `inputs`, the
/// tensors that flow in, in the order in which they are first read; `params`, its stored tensors;
/// `sizes`, numbers that flow in. Together they are the body's inputs; those of stored tensors have
/// their path within the module as target. Returns the graph itself without such calls. A call that
/// cannot be one node (it changes a buffer, or its result flows back into it) stays as it is, with
/// a line in the log.
Result<GraphPtr> gatherModules(GraphPtr graph);

/// The operands of a gathered node.
struct GatheredArguments
{
    explicit GatheredArguments(const Node& node)
        : GatheredArguments(node, node)
    {
    }
    /// The values that `now` reads, a node of the same arguments; names are those of the body of
    /// `gathered`.
    GatheredArguments(const Node& gathered, const Node& now);

    std::vector<ValueRef> inputs;
    std::map<std::string, ValueRef> parameters;
    std::vector<std::string> parameterNames;
};

} // namespace qs
