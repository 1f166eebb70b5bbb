// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/module_statistics.h"

#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

/// Bytes of scale and zero point per quantized tensor or channel.
constexpr std::int64_t kQParamBytes = 8;

/// The size of a dimension; 1 for an open one.
std::int64_t sizeOf(const Dim& dim)
{
    return dim.isSymbolic() ? 1 : std::max<std::int64_t>(dim.size, 0);
}

} // namespace

std::optional<std::int64_t> elementsOf(const ValueType& type)
{
    if (!type.shapeKnown || type.kind != ValueKind::Tensor)
        return {};
    std::int64_t count = 1;
    for (const Dim& dim : type.shape) {
        if (!dim.isSymbolic() && dim.size < 0)
            return {};
        count *= sizeOf(dim);
    }
    return count;
}

namespace {

std::int64_t dimension(const ValueType& type, std::size_t fromEnd)
{
    const auto rank = type.shape.size();
    if (fromEnd > rank || fromEnd == 0)
        return 1;
    return sizeOf(type.shape[rank - fromEnd]);
}

/// Counts the multiply-accumulates of single operators.
class MacCounter
{
public:
    explicit MacCounter(const Graph& graph)
        : m_graph(graph)
    {
    }

    /// Number of multiply-accumulates; 0 for operators that do not multiply matrices, empty if a
    /// required shape is unknown.
    std::optional<std::int64_t> count(const Node& node) const
    {
        const OperatorFacts& facts = factsOf(node.target);
        switch (facts.family) {
        case OperatorFamily::Convolution:
        case OperatorFamily::TransposedConvolution:
            return convolution(node, facts.family == OperatorFamily::TransposedConvolution);
        case OperatorFamily::Product:
            return product(output(node), type(node, facts.input), 1);
        case OperatorFamily::Attention:
            return attention(node);
        case OperatorFamily::Recurrent:
            return recurrent(node);
        default:
            return 0;
        }
    }

private:
    const ValueType* output(const Node& node) const
    {
        return node.outputs.empty() ? nullptr : &node.outputs.front().type;
    }
    template<class Place> // position or name
    const ValueType* type(const Node& node, Place argument) const
    {
        const Argument* found = node.tryArg(argument);
        const auto* ref = found ? found->asRef() : nullptr;
        return ref ? &m_graph.value(*ref).type : nullptr;
    }

    /// One filter application per output element (for a transposed one, per input element).
    std::optional<std::int64_t> convolution(const Node& node, bool transposed) const
    {
        const ValueType* data = transposed ? type(node, 0) : output(node);
        const ValueType* weight = type(node, 1);
        const auto count = data ? elementsOf(*data) : std::nullopt;
        const auto weights = weight ? elementsOf(*weight) : std::nullopt;
        if (!count || !weights || weight->shape.empty())
            return {};
        return *count
            * (*weights / std::max<std::int64_t>(dimension(*weight, weight->shape.size()), 1));
    }

    /// Each element of `out` is a sum over dimension `fromEnd` of `in`, counted from the end.
    static std::optional<std::int64_t> product(const ValueType* out, const ValueType* in,
                                               std::size_t fromEnd)
    {
        const auto count = out ? elementsOf(*out) : std::nullopt;
        if (!count || !in || !in->shapeKnown)
            return {};
        return *count * dimension(*in, fromEnd);
    }

    /// Counts the scores (queries times keys) and the weighted sum of values.
    std::optional<std::int64_t> attention(const Node& node) const
    {
        const ValueType *query = type(node, 0), *key = type(node, 1), *value = type(node, 2);
        const auto queries = query ? elementsOf(*query) : std::nullopt;
        if (!queries || !key || !key->shapeKnown || !value || !value->shapeKnown)
            return {};
        const std::int64_t rows = *queries / std::max<std::int64_t>(dimension(*query, 1), 1);
        return rows * dimension(*key, 2) * (dimension(*query, 1) + dimension(*value, 1));
    }

    /// Every step of every sequence multiplies with each weight matrix once.
    std::optional<std::int64_t> recurrent(const Node& node) const
    {
        const ValueType* input = type(node, 0);
        const auto all = input ? elementsOf(*input) : std::nullopt;
        if (!all)
            return {};
        std::int64_t weights = 0;
        for (const auto& argument : node.args)
            if (const auto* list = argument.value.asList())
                for (const Argument& item : *list)
                    if (const auto* ref = item.asRef()) {
                        const ValueType& held = m_graph.value(*ref).type;
                        if (held.shape.size() == 2
                            && m_graph.get(ref->node).kind == NodeKind::Parameter)
                            weights += elementsOf(held).value_or(0);
                    }
        return *all / std::max<std::int64_t>(dimension(*input, 1), 1) * weights;
    }

    const Graph& m_graph;
};

/// Sizes of the parameters that the plan changes.
class PlannedSizes
{
public:
    PlannedSizes(const Graph& graph, const Plan& plan)
        : m_graph(graph)
    {
        for (const auto& group : plan.groups)
            if (group.quantized)
                foldGroup(group);
        for (const auto& observer : plan.observers)
            if (observer.isWeight)
                quantizeWeight(observer);
    }

    std::int64_t bytes(NodeId parameter, std::int64_t asIs) const
    {
        const auto it = m_bytes.find(parameter);
        return it == m_bytes.end() ? asIs : it->second;
    }

private:
    const Node* parameter(const Node& node, std::string_view name) const
    {
        const Argument* found = node.tryArg(name);
        const auto* ref = found ? found->asRef() : nullptr;
        const Node* held = ref ? m_graph.tryGet(ref->node) : nullptr;
        return held && held->kind == NodeKind::Parameter ? held : nullptr;
    }

    /// A batch norm after a convolution becomes part of its weight and bias.
    void foldGroup(const MatchGroup& group)
    {
        const bool hasBias = parameter(m_graph.get(group.root), "bias") != nullptr;
        for (NodeId id : group.members) {
            const Node& node = m_graph.get(id);
            if (id == group.root || factsOf(node.target).family != OperatorFamily::Norm)
                continue;
            for (const char* name : {"weight", "running_mean", "running_var"})
                if (const Node* folded = parameter(node, name))
                    m_bytes[folded->id] = 0;
            // Its bias becomes the convolution's, unless that already has one.
            if (const Node* folded = parameter(node, "bias"); folded && hasBias)
                m_bytes[folded->id] = 0;
        }
    }

    void quantizeWeight(const PlannedObserver& observer)
    {
        for (const ObservedEdge& edge : observer.edges)
            if (const Node* held = m_graph.tryGet(edge.value.node);
                held && held->kind == NodeKind::Parameter)
                quantizeWeight(observer, *held);
    }

    void quantizeWeight(const PlannedObserver& observer, const Node& weight)
    {
        const auto count = elementsOf(weight.outputs.front().type);
        if (!count)
            return;
        const auto& shape = weight.outputs.front().type.shape;
        const auto axis = std::size_t(std::max(observer.spec.chAxis, 0));
        const int group = observer.spec.groupSize;
        const std::int64_t channels = group > 0 ? *count / group
            : isPerChannel(observer.spec.qscheme) && axis < shape.size()
            ? dimension(weight.outputs.front().type, shape.size() - axis)
            : 1;
        const bool integer = isIntegerDType(observer.spec.dtype);
        m_bytes[weight.id]
            = *count * dtypeSize(observer.spec.dtype) + (integer ? channels * kQParamBytes : 0);
    }

    const Graph& m_graph;
    std::unordered_map<NodeId, std::int64_t> m_bytes;
};

bool hasOpenDimension(const Node& node)
{
    return std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value& value) {
        return std::any_of(value.type.shape.begin(), value.type.shape.end(),
                           [](const Dim& dim) { return dim.isSymbolic(); });
    });
}

/// Adds the figures of inner modules to their parents.
void addToParents(ModuleStatisticsMap& modules)
{
    // In reverse order a module precedes its parent, whose path is a prefix of its path.
    for (auto it = modules.rbegin(); it != modules.rend(); ++it) {
        const auto& [path, inner] = *it;
        if (path.empty())
            continue;
        auto& outer = modules[ModuleTree::parentPath(path)];
        outer.parameters += inner.parameters;
        outer.macs += inner.macs;
        outer.openDimensions |= inner.openDimensions;
        outer.unknownOps += inner.unknownOps;
        outer.floatBytes += inner.floatBytes;
        outer.plannedBytes += inner.plannedBytes;
    }
}

} // namespace

ModuleStatisticsMap moduleStatistics(const Graph& graph, const Plan* plan)
{
    ModuleStatisticsMap out;
    const MacCounter counter(graph);
    std::optional<PlannedSizes> planned;
    if (plan)
        planned.emplace(graph, *plan);
    for (const auto& node : graph.nodes()) {
        if (node->kind == NodeKind::Op) {
            const auto macs = counter.count(*node);
            auto& own = out[node->scope.path];
            own.macs += macs.value_or(0);
            own.unknownOps += macs ? 0 : 1;
            own.openDimensions |= macs.value_or(0) > 0 && hasOpenDimension(*node);
        }
        if (node->kind != NodeKind::Parameter || node->outputs.empty())
            continue;
        const ValueType& type = node->outputs.front().type;
        const std::int64_t count = elementsOf(type).value_or(0);
        const std::int64_t bytes = count * dtypeSize(type.dtype);
        auto& own = out[ModuleTree::parentPath(node->target)];
        own.parameters += node->isBuffer ? 0 : count;
        own.floatBytes += bytes;
        own.plannedBytes += planned ? planned->bytes(node->id, bytes) : bytes;
    }
    addToParents(out);
    return out;
}

std::unordered_map<NodeId, std::int64_t> macsByOperator(const Graph& graph)
{
    std::unordered_map<NodeId, std::int64_t> found;
    const MacCounter counter(graph);
    for (const auto& node : graph.nodes())
        if (node->kind == NodeKind::Op)
            if (const std::int64_t macs = counter.count(*node).value_or(0); macs > 0)
                found[node->id] = macs;
    return found;
}

} // namespace qs
