// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/channel_chain.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>

namespace qs {

namespace {

/// Where channels lie in a value.
struct ChannelPlace
{
    std::size_t rank = 0, axis = 0;
};

class ChainWalk
{
public:
    ChainWalk(const GraphEdit& graph, NodeId maker)
        : m_graph(graph)
    {
        m_chain.maker = maker;
    }

    Result<ChannelChain> walk()
    {
        const Node& maker = m_graph.get(m_chain.maker);
        QS_TRY(ChannelPlace place, enter(maker));
        ValueRef value {maker.id, 0};
        for (;;) {
            const std::vector<Use> uses = m_graph.users(value);
            if (uses.empty())
                return refuse("nothing reads " + inQuotes(maker.name));
            const Node& first = m_graph.get(uses.front().node);
            if (first.kind == NodeKind::Output)
                return refuse("the model returns the channels of " + inQuotes(maker.name));
            if (uses.size() > 1 || isLayerNode(first))
                break;
            if (isBatchNorm(first.target) && value.node == maker.id && m_chain.weight)
                QS_CHECK(takeBatchNorm(first));
            else
                QS_CHECK(pass(first, place));
            value = {first.id, 0};
        }
        for (const Use& use : m_graph.users(value))
            QS_CHECK(takeReader(m_graph.get(use.node), value, place));
        return std::move(m_chain);
    }

private:
    static bool isLayerNode(const Node& node)
    {
        using Weighted = OperatorFacts::Weighted;
        const Weighted kind = factsOf(node.target).weighted;
        return kind == Weighted::Linear || kind == Weighted::Convolution
            || kind == Weighted::TransposedConvolution;
    }

    Result<std::size_t> rankOf(const Node& node) const
    {
        if (node.outputs.empty() || !node.outputs.front().type.shapeKnown)
            return refuse("the shape of " + inQuotes(node.name) + " is not known");
        return node.outputs.front().type.shape.size();
    }

    /// The stored tensor that the node reads as this argument; empty if it reads none.
    Result<std::optional<StoredUse>> storedAt(const Node& node, std::string_view argument) const
    {
        const auto arguments = namedArguments(node);
        const auto at = argument.empty() ? std::nullopt : valueNamed(arguments, argument);
        if (!at)
            return std::optional<StoredUse>();
        const NodeId stored = arguments[*at].value.asRef()->node;
        if (!m_graph.get(stored).isStored())
            return refuse("the " + std::string(argument) + " of " + inQuotes(node.name)
                          + " is not a stored tensor");
        return StoredUse {node.id, *at, stored};
    }

    Result<StoredUse> neededAt(const Node& node, std::string_view argument) const
    {
        QS_TRY(const auto use, storedAt(node, argument));
        return use ? Result<StoredUse>(*use)
                   : refuse(inQuotes(node.name) + " (" + node.target
                            + ") is not a layer with a stored weight");
    }

    Result<void> divide(const Node& node, std::string_view weight, std::string_view bias,
                        std::int64_t axis)
    {
        QS_TRY(const StoredUse own, neededAt(node, weight));
        QS_TRY(const auto added, storedAt(node, bias));
        m_chain.divided = {{own, axis}};
        if (added)
            m_chain.divided.push_back({*added, 0});
        const ValueType& type = m_graph.get(own.stored).outputs.at(0).type;
        if (!type.shapeKnown || std::size_t(axis) >= type.shape.size())
            return refuse("the shape of the weight of " + inQuotes(node.name) + " is not known");
        m_chain.channels = type.shape[std::size_t(axis)].size;
        return {};
    }

    std::int64_t groupsOf(const Node& node) const
    {
        for (const NamedArgument& argument : namedArguments(node))
            if (argument.name == "groups" && argument.value.asInt())
                return *argument.value.asInt();
        return 1;
    }

    /// Takes the weight and bias of the maker; returns where its channels lie.
    Result<ChannelPlace> enter(const Node& maker)
    {
        const OperatorFacts& facts = factsOf(maker.target);
        QS_TRY(const std::size_t rank, rankOf(maker));
        if (isLayerNorm(maker.target)) {
            QS_CHECK(divide(maker, "weight", "bias", 0));
            return ChannelPlace {rank, rank - 1};
        }
        if (!isLayerNode(maker))
            return refuse(inQuotes(maker.name) + " (" + maker.target
                          + ") is not a convolution, a linear or a layer norm");
        const bool isTransposed = facts.weighted == OperatorFacts::Weighted::TransposedConvolution;
        if (isTransposed && groupsOf(maker) > 1)
            return refuse(inQuotes(maker.name) + " is a transposed convolution in groups");
        m_chain.weightAxis = isTransposed ? 1 : 0;
        QS_CHECK(divide(maker, facts.weight, facts.bias, m_chain.weightAxis));
        m_chain.weight = m_chain.divided.front().use;
        return ChannelPlace {
            rank,
            facts.weighted == OperatorFacts::Weighted::Linear ? rank - 1 : rank - spatialOf()};
    }

    /// Dimensions of a convolution's weight from the channels of a result on.
    std::size_t spatialOf() const
    {
        const ValueType& type = m_graph.get(m_chain.weight->stored).outputs.at(0).type;
        return type.shape.size() - 1;
    }

    Result<void> takeBatchNorm(const Node& norm)
    {
        m_chain.batchNorm = norm.id;
        return divide(norm, "weight", "bias", 0);
    }

    /// A mean, of a value of this rank, over dimensions after this one.
    static bool isMeanAfter(const Node& node, std::size_t rank, std::size_t axis)
    {
        if (!hasTrait(node.target, OperatorTrait::Averages))
            return false;
        for (const NamedArgument& argument : namedArguments(node)) {
            const Argument::List* dims = argument.name == "dim" ? argument.value.asList() : nullptr;
            if (dims)
                return std::all_of(dims->begin(), dims->end(), [&](const Argument& dim) {
                    const std::int64_t* number = dim.asInt();
                    return number
                        && (*number < 0 ? std::int64_t(rank) + *number > std::int64_t(axis)
                                        : *number > std::int64_t(axis));
                });
        }
        return false;
    }

    /// Whether the node's first argument has size 1 in all dimensions after this one.
    bool hasOneOfEachAfter(const Node& node, std::size_t axis) const
    {
        const ValueRef* ref = node.args.empty() ? nullptr : node.args.front().value.asRef();
        if (!ref)
            return false;
        const auto& shape = m_graph.get(ref->node).outputs.at(ref->index).type.shape;
        return std::all_of(shape.begin() + std::ptrdiff_t(std::min(axis + 1, shape.size())),
                           shape.end(), [](const Dim& dim) { return dim.size == 1; });
    }

    /// Checks that the operator hands scaled channels on, and follows their dimension.
    Result<void> pass(const Node& node, ChannelPlace& place) const
    {
        const OperatorTraits& traits = functionalFactsOf(node.target).traits;
        QS_TRY(const std::size_t rank, rankOf(node));
        if (traits.has(OperatorTrait::ScalesByChannel) && rank == place.rank)
            return {};
        const auto& shape = node.outputs.front().type.shape;
        const bool isLast = rank == place.axis + 1 && shape.back().size == m_chain.channels;
        if (isMeanAfter(node, place.rank, place.axis) && (isLast || rank == place.rank)) {
            place.rank = rank;
            return {};
        }
        if (traits.has(OperatorTrait::Permutes) && isLast && hasOneOfEachAfter(node, place.axis)) {
            place.rank = rank;
            return {};
        }
        return refuse("between the layers, " + inQuotes(node.name) + " (" + node.target
                      + ") does not hand scaled channels on");
    }

    Result<void> takeReader(const Node& node, ValueRef value, const ChannelPlace& place)
    {
        const OperatorFacts& facts = factsOf(node.target);
        const auto arguments = namedArguments(node);
        const bool isInput = std::any_of(arguments.begin(), arguments.end(), [&](const auto& one) {
            return one.name == facts.input && one.value.asRef() && *one.value.asRef() == value;
        });
        if (!isLayerNode(node) || !isInput)
            return refuse(inQuotes(node.name) + " (" + node.target
                          + ") reads the channels too, and it is not a convolution or a linear");
        ChannelChain::Reader reader;
        QS_TRY(reader.weight, neededAt(node, facts.weight));
        const ValueType& type = m_graph.get(reader.weight.stored).outputs.at(0).type;
        const bool isLinear = facts.weighted == OperatorFacts::Weighted::Linear;
        if (facts.weighted == OperatorFacts::Weighted::TransposedConvolution)
            reader.axis = 0;
        else if (!isLinear)
            reader.groups = groupsOf(node);
        const std::size_t axis = isLinear ? place.rank - 1 : place.rank + 1 - type.shape.size();
        const bool fits = type.shapeKnown && type.shape.size() > 1 && axis == place.axis
            && type.shape[std::size_t(reader.axis)].size * reader.groups == m_chain.channels;
        if (!fits)
            return refuse(inQuotes(node.name) + " reads the channels in another dimension");
        m_chain.readers.push_back(reader);
        return {};
    }

    const GraphEdit& m_graph;
    ChannelChain m_chain;
};

} // namespace

Result<ChannelChain> channelChain(const GraphEdit& graph, NodeId maker)
{
    return ChainWalk(graph, maker).walk();
}

} // namespace qs
