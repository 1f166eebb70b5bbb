// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/repeatable.h"

#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/op_table.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/state.h"

#include <algorithm>

namespace qs {

namespace {

bool isOff(const Node& node, const char* name)
{
    Argument value;
    if (!effectiveArgument(node, name, value))
        return false;
    const bool* flag = value.asBool();
    return (flag && !*flag) || numberOf(&value) == 0;
}

bool drawsNumbers(const Node& node)
{
    const auto op = node.kind == NodeKind::Op ? findOperator(node.target) : std::nullopt;
    if (!op || !isRandom(*op))
        return false;
    return !isOff(node, "train") && !isOff(node, "training") && !isOff(node, "dropout_p");
}

} // namespace

bool isRepeatable(const Graph& graph)
{
    const auto nodes = graph.nodes();
    return std::none_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
        return isStateUpdate(*node) || drawsNumbers(*node)
            || std::any_of(node->subgraphs.begin(), node->subgraphs.end(),
                           [](const auto& body) { return !isRepeatable(*body); });
    });
}

} // namespace qs
