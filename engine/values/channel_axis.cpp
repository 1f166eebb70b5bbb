// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_axis.h"

#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

#include <optional>

namespace qs {

namespace {

/// Returns the first argument that is a value.
std::optional<ValueRef> firstValue(const Node& node)
{
    for (const auto& argument : node.args)
        if (const ValueRef* ref = argument.value.asRef())
            return *ref;
    return std::nullopt;
}

bool keepsShape(const Graph& graph, ValueRef from, ValueRef to)
{
    const ValueType &before = graph.value(from).type, &after = graph.value(to).type;
    return before.shapeKnown && after.shapeKnown && before.shape == after.shape;
}

/// Where a layer with weights that reads the value expects its channels; nullopt without one.
std::optional<OperatorChannels> readAs(const Graph& graph, ValueRef value)
{
    for (const Use& use : graph.users(value)) {
        const Node& reader = graph.get(use.node);
        const OperatorFacts& facts = factsOf(reader.target);
        const bool isRecurrent = facts.family == OperatorFamily::Recurrent && use.argument == 0;
        const bool isLayer = facts.weighted != OperatorWeight::No
            && facts.weighted != OperatorWeight::Embedding
            && reader.args.at(use.argument).name == facts.input;
        if (isRecurrent || isLayer)
            return operatorChannels(reader.target);
    }
    return std::nullopt;
}

} // namespace

int channelAxis(const Graph& graph, ValueRef value, std::size_t rank)
{
    if (rank < 2)
        return -1;
    const int last = int(rank) - 1;
    OperatorChannels found = OperatorChannels::Passed;
    std::optional<OperatorChannels> read;
    while (found == OperatorChannels::Passed) {
        const Node& node = graph.get(value.node);
        read = read ? read : readAs(graph, value);
        found = node.isOperator() ? operatorChannels(node.target) : OperatorChannels::Unknown;
        if (found != OperatorChannels::Passed)
            break;
        const auto before = firstValue(node);
        if (!before || !keepsShape(graph, *before, value)) {
            found = OperatorChannels::Unknown;
            break;
        }
        value = *before;
    }
    if (found == OperatorChannels::Unknown)
        found = read.value_or(found);
    if (found == OperatorChannels::Unknown)
        return rank >= 4 ? 1 : last;
    return found == OperatorChannels::Second ? 1 : last;
}

int weightChannelAxis(const Node& reader)
{
    const auto facts = operatorFacts(reader.target);
    return facts && facts->weighted == OperatorFacts::Weighted::TransposedConvolution ? 1 : 0;
}

} // namespace qs
