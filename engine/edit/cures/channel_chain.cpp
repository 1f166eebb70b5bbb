// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/channel_chain.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <string>

namespace qs {

namespace {

/// Where channels lie in a value.
struct ChannelPlace
{
    std::size_t rank = 0, axis = 0;
};

bool isLayerNode(const Node& node)
{
    using Weighted = OperatorFacts::Weighted;
    const Weighted kind = factsOf(node.target).weighted;
    return kind == Weighted::Linear || kind == Weighted::Convolution
        || kind == Weighted::TransposedConvolution;
}

bool isRecurrentNode(const Node& node)
{
    return factsOf(node.target).family == OperatorFamily::Recurrent;
}

/// True for operators whose stored weights multiply the channels of their input.
bool multipliesChannels(const Node& node)
{
    return isLayerNode(node) || isRecurrentNode(node);
}

/// The stored tensor that the node reads as this argument; empty if it reads none.
Result<std::optional<StoredUse>> storedAt(const GraphEdit& graph, const Node& node,
                                          std::string_view argument)
{
    const auto arguments = namedArguments(node);
    const auto at = argument.empty() ? std::nullopt : valueNamed(arguments, argument);
    if (!at)
        return std::optional<StoredUse>();
    const NodeId stored = arguments[*at].value.asRef()->node;
    if (!graph.get(stored).isStored())
        return refuse("the " + std::string(argument) + " of " + inQuotes(node.name)
                      + " is not a stored tensor");
    return StoredUse {node.id, *at, stored};
}

Result<StoredUse> neededAt(const GraphEdit& graph, const Node& node, std::string_view argument)
{
    QS_TRY(const auto use, storedAt(graph, node, argument));
    return use ? Result<StoredUse>(*use)
               : refuse(inQuotes(node.name) + " (" + node.target
                        + ") is not a layer with a stored weight");
}

/// The number given as this argument; `otherwise` if none is.
std::int64_t numberAt(const Node& node, std::string_view name, std::int64_t otherwise)
{
    for (const NamedArgument& argument : namedArguments(node))
        if (argument.name == name) {
            if (const std::int64_t* number = argument.value.asInt())
                return *number;
            if (const bool* flag = argument.value.asBool())
                return *flag ? 1 : 0;
        }
    return otherwise;
}

std::int64_t groupsOf(const Node& node)
{
    return numberAt(node, "groups", 1);
}

/// How an operator multiplies the channels of a value by its weights.
struct ChannelRead
{
    std::vector<ChannelChain::Reader> readers; ///< one for each weight
    std::int64_t channels = 0;
    std::size_t after = 0; ///< dimensions of the value after the channels
};

/// The first layer's weights of a recurrent operator, of each direction.
Result<ChannelRead> recurrentRead(const GraphEdit& graph, const Node& node)
{
    const auto arguments = namedArguments(node);
    const auto params = std::find_if(arguments.begin(), arguments.end(), [](const auto& argument) {
        return argument.name == "params";
    });
    const Argument::List* all = params == arguments.end() ? nullptr : params->value.asList();
    const std::size_t directions = numberAt(node, "bidirectional", 0) ? 2 : 1;
    const std::size_t cells = directions * std::size_t(numberAt(node, "num_layers", 0));
    const std::size_t each = all && cells > 0 ? all->size() / cells : 0;
    ChannelRead read;
    for (std::size_t i = 0; each > 0 && i < directions; ++i) {
        const ValueRef* weight = (*all)[i * each].asRef();
        if (!weight || !graph.get(weight->node).isStored())
            break;
        const ValueType& type = graph.get(weight->node).outputs.at(weight->index).type;
        if (!type.shapeKnown || type.shape.size() != 2)
            break;
        const auto place = std::size_t(params - arguments.begin());
        read.readers.push_back({{node.id, place, weight->node, int(i * each)}});
        read.channels = type.shape[1].size;
    }
    if (read.readers.size() != directions)
        return refuse("the weights of " + inQuotes(node.name) + " are not stored tensors");
    return read;
}

/// Errors: the operator is not such a layer, it reads the value as something else, or its weight is
/// not stored.
Result<ChannelRead> channelRead(const GraphEdit& graph, const Use& use)
{
    const Node& node = graph.get(use.node);
    const OperatorFacts& facts = factsOf(node.target);
    const auto arguments = namedArguments(node);
    const bool isInput = isRecurrentNode(node)
        ? use.argument == 0
        : use.argument < arguments.size() && arguments[use.argument].name == facts.input;
    if (!multipliesChannels(node) || !isInput)
        return refuse(inQuotes(node.name) + " (" + node.target
                      + ") reads the channels too, and it is not a convolution, a linear or a "
                        "recurrent layer");
    if (isRecurrentNode(node))
        return recurrentRead(graph, node);
    ChannelRead read;
    ChannelChain::Reader& reader = read.readers.emplace_back();
    reader.input = use.argument;
    QS_TRY(reader.weight, neededAt(graph, node, facts.weight));
    const ValueType& type = graph.get(reader.weight.stored).outputs.at(0).type;
    const bool isLinear = facts.weighted == OperatorFacts::Weighted::Linear;
    if (facts.weighted == OperatorFacts::Weighted::TransposedConvolution)
        reader.axis = 0;
    else if (!isLinear)
        reader.groups = groupsOf(node);
    if (!type.shapeKnown || type.shape.size() < 2)
        return refuse("the shape of the weight of " + inQuotes(node.name) + " is not known");
    read.channels = type.shape[std::size_t(reader.axis)].size * reader.groups;
    read.after = isLinear ? 0 : type.shape.size() - 2;
    return read;
}

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
            const std::vector<Use> uses = readersOf(value);
            if (uses.empty())
                return refuse("nothing reads " + inQuotes(maker.name));
            const Node& first = m_graph.get(uses.front().node);
            if (first.kind == NodeKind::Output)
                return refuse("the model returns the channels of " + inQuotes(maker.name));
            if (uses.size() > 1 || multipliesChannels(first))
                break;
            if (isBatchNorm(first.target) && value.node == maker.id && m_chain.weight)
                QS_CHECK(takeBatchNorm(first));
            else
                QS_CHECK(pass(first, place));
            value = {first.id, 0};
        }
        for (const Use& use : readersOf(value))
            QS_CHECK(takeReader(use, place));
        return std::move(m_chain);
    }

private:
    /// The uses of the value, except by operators that depend on its shape only.
    std::vector<Use> readersOf(ValueRef value) const
    {
        std::vector<Use> uses = m_graph.users(value);
        std::erase_if(uses, [this](const Use& use) {
            return hasTrait(m_graph.get(use.node).target, OperatorTrait::Measures);
        });
        return uses;
    }

    Result<std::size_t> rankOf(const Node& node) const
    {
        if (node.outputs.empty() || !node.outputs.front().type.shapeKnown)
            return refuse("the shape of " + inQuotes(node.name) + " is not known");
        return node.outputs.front().type.shape.size();
    }

    Result<void> divide(const Node& node, std::string_view weight, std::string_view bias,
                        std::int64_t axis)
    {
        QS_TRY(const StoredUse own, neededAt(m_graph, node, weight));
        QS_TRY(const auto added, storedAt(m_graph, node, bias));
        m_chain.divided = {{own, axis}};
        if (added)
            m_chain.divided.push_back({*added, 0});
        const ValueType& type = m_graph.get(own.stored).outputs.at(0).type;
        if (!type.shapeKnown || std::size_t(axis) >= type.shape.size())
            return refuse("the shape of the weight of " + inQuotes(node.name) + " is not known");
        m_chain.channels = type.shape[std::size_t(axis)].size;
        return {};
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

    Result<void> takeReader(const Use& use, const ChannelPlace& place)
    {
        QS_TRY(const ChannelRead read, channelRead(m_graph, use));
        if (read.channels != m_chain.channels || read.after + place.axis + 1 != place.rank)
            return refuse(inQuotes(m_graph.get(use.node).name)
                          + " reads the channels in another dimension");
        m_chain.readers.insert(m_chain.readers.end(), read.readers.begin(), read.readers.end());
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

Result<ChannelChain> multipliedChain(const GraphEdit& graph, ValueRef value)
{
    const std::string name = inQuotes(graph.get(value.node).name);
    ChannelChain chain;
    chain.multiplied = value;
    for (const Use& use : graph.users(value)) {
        if (!multipliesChannels(graph.get(use.node)))
            continue;
        QS_TRY(const ChannelRead read, channelRead(graph, use));
        if (chain.readers.empty()) {
            chain.channels = read.channels;
            chain.place = read.after;
        } else if (read.channels != chain.channels || read.after != chain.place) {
            return refuse("the layers that read " + name
                          + " have its channels in different dimensions");
        }
        chain.readers.insert(chain.readers.end(), read.readers.begin(), read.readers.end());
    }
    if (chain.readers.empty())
        return refuse("no convolution, linear or recurrent layer reads " + name);
    return chain;
}

Result<ChannelChain> dividedChain(const GraphEdit& graph, ValueRef value)
{
    if (graph.get(value.node).isOperator() && value.index == 0)
        if (auto chain = channelChain(graph, value.node))
            return chain;
    return multipliedChain(graph, value);
}

} // namespace qs
