// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_graph.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/fake_quantizers.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/pass.h"
#include "engine/plan/model_warnings.h"
#include "engine/prepare/insert_observers.h"
#include "engine/prepare/observe_modules.h"

#include <algorithm>
#include <array>
#include <set>

namespace qs {

namespace {

/// The dimension of a layer's weight, and of its result, that holds the output channels.
struct ChannelAxes
{
    std::int64_t weight = 0;
    std::int64_t weightRank = 4, resultRank = 4;
};

std::vector<std::int64_t> alongAxis(std::int64_t rank, std::int64_t axis)
{
    std::vector<std::int64_t> shape(std::size_t(rank), 1);
    shape[std::size_t(axis)] = -1;
    return shape;
}

/// Writes one layer with its batch norm as torch.ao's ConvBn modules compute them.
class BatchNormScaling
{
public:
    BatchNormScaling(GraphEdit& edit, const FoldablePair& pair, NormFactors factors)
        : m_edit(edit)
        , m_pair(pair)
        , m_factors(factors)
        , m_weight(edit.get(pair.weight.source.node))
        , m_layer(edit.get(pair.conv))
        , m_norm(edit.get(pair.batchNorm))
        , m_channels(edit.get(argumentRef(m_norm, "running_var").node).outputs.at(0).type)
    {
    }

    /// False if the layer cannot be written so; nothing is changed then.
    bool write()
    {
        const auto axes = channelAxes();
        if (!axes)
            return false;
        const ValueRef factor = insertFactor();
        const ValueRef scaled
            = before(kMultiplyTarget, "_scaled",
                     {{"self", m_pair.weight.source},
                      {"other", shaped(factor, alongAxis(axes->weightRank, axes->weight))}},
                     m_weight.outputs.at(m_pair.weight.source.index).type);
        rerouteWeight(m_edit, m_layer.id, m_pair.op.weight, m_pair.weight, scaled);
        const ValueRef perResult = shaped(factor, alongAxis(axes->resultRank, 1));
        const ValueRef bias
            = m_pair.op.bias.empty() ? ValueRef() : argumentRef(m_layer, m_pair.op.bias);
        if (bias)
            takeBias(bias, factor);
        ValueRef result = after({m_layer.id, 0}, kDivideTarget, perResult);
        if (bias && m_layer.target != kAddmmTarget)
            result = after(result, kAddTarget, shaped(bias, alongAxis(axes->resultRank, 1)));
        m_edit.replaceArgument(m_norm.id, std::size_t(argumentIndex(m_norm, "input")),
                               {m_layer.id, 0}, result);
        return true;
    }

private:
    std::optional<ChannelAxes> channelAxes() const
    {
        const ValueType& type = m_weight.outputs.at(m_pair.weight.source.index).type;
        if (!type.shapeKnown)
            return std::nullopt;
        ChannelAxes axes;
        axes.weightRank = axes.resultRank = std::int64_t(type.shape.size());
        if (m_pair.op.kind != WeightedOp::Kind::TransposedConvolution)
            return axes;
        const Argument* groups = m_layer.tryArg("groups");
        if (groups && groups->asInt() && *groups->asInt() > 1)
            return std::nullopt; // the weight's axes do not hold the output channels
        axes.weight = 1;
        return axes;
    }

    /// gamma / sqrt(variance + eps), by output channel.
    ValueRef insertFactor()
    {
        const Argument* eps = m_norm.tryArg("eps");
        const ValueRef sum = before(kAddNumberTarget, "_variance",
                                    {{"self", argumentRef(m_norm, "running_var")},
                                     {"other", eps && eps->asDouble() ? *eps->asDouble() : 1e-5}},
                                    m_channels);
        const ValueRef gamma = argumentRef(m_norm, "weight");
        if (m_factors == NormFactors::OfFolding) {
            const ValueRef inverse
                = before(kRsqrtTarget, "_deviation", {{"self", sum}}, m_channels);
            return gamma ? before(kMultiplyTarget, "_factor", {{"self", gamma}, {"other", inverse}},
                                  m_channels)
                         : inverse;
        }
        const ValueRef deviation = before(kSqrtTarget, "_deviation", {{"self", sum}}, m_channels);
        return gamma
            ? before(kDivideTarget, "_factor", {{"self", gamma}, {"other", deviation}}, m_channels)
            : before(kReciprocalTarget, "_factor", {{"self", deviation}}, m_channels);
    }

    ValueRef shaped(ValueRef value, const std::vector<std::int64_t>& shape)
    {
        Argument::List sizes;
        ValueType type = m_channels;
        type.shape.assign(shape.size(), Dim::fixed(1));
        for (std::size_t i = 0; i < shape.size(); ++i) {
            sizes.push_back(shape[i]);
            if (shape[i] < 0 && m_channels.shape.size() == 1)
                type.shape[i] = m_channels.shape[0];
        }
        return before(kReshapeTarget, "_by_channel", {{"self", value}, {"shape", sizes}}, type);
    }

    /// Takes the bias out of the layer, since it is added after the division; addmm needs one, so
    /// its bias is multiplied instead.
    void takeBias(ValueRef bias, ValueRef factor)
    {
        auto args = m_edit.get(m_layer.id).args;
        const auto at = std::size_t(argumentIndex(m_layer, m_pair.op.bias));
        if (m_layer.target == kAddmmTarget)
            args[at].value
                = before(kMultiplyTarget, "_bias", {{"self", bias}, {"other", factor}}, m_channels);
        else
            args[at].value = Argument();
        m_edit.setArgs(m_layer.id, std::move(args));
    }

    Node made(std::string_view target, const std::string& suffix, std::vector<NamedArgument> args,
              const ValueType& type)
    {
        Node node;
        node.name = m_layer.name + suffix;
        node.target = std::string(target);
        node.args = std::move(args);
        node.outputs.push_back({"", type});
        node.scope = m_layer.scope;
        node.origin = m_layer.id;
        return node;
    }

    ValueRef before(std::string_view target, const std::string& suffix,
                    std::vector<NamedArgument> args, const ValueType& type)
    {
        return {m_edit.insert(made(target, suffix, std::move(args), type), m_layer.id), 0};
    }

    ValueRef after(ValueRef value, std::string_view target, ValueRef other)
    {
        Node node = made(target, "_restored", {{"self", value}, {"other", other}},
                         m_layer.outputs.at(0).type);
        return {m_edit.insert(std::move(node), m_norm.id), 0};
    }

    GraphEdit& m_edit;
    const FoldablePair& m_pair;
    NormFactors m_factors;
    Node m_weight, m_layer, m_norm; ///< as before the change
    ValueType m_channels; ///< of the statistics: one number for each output channel
};

Result<GraphPtr> withScaledWeights(const GraphPtr& model, const Plan& plan, NormFactors factors)
{
    const auto draft = makeFreedLater<GraphEdit>(*model);
    GraphEdit& edit = *draft;
    bool changed = false;
    for (const MatchGroup& group : plan.groups) {
        if (!group.fused || !group.quantized)
            continue;
        while (const auto pair = foldablePair(edit, group)) {
            if (!BatchNormScaling(edit, *pair, factors).write())
                break;
            changed = true;
        }
    }
    return changed ? std::make_shared<const Graph>(edit.build()) : model;
}

/// Inserts an observer of a weight before the node that reads it.
ValueRef insertWeightObserver(GraphEdit& edit, ValueRef weight, const PlannedObserver& observer,
                              NodeId before, int number)
{
    const Node& owner = edit.get(observer.weightOwner);
    Node node;
    node.name = "weight_fake_quant_" + std::to_string(number);
    node.target = std::string(kObserveTarget);
    node.args.push_back({"input", weight});
    node.outputs.push_back({"", edit.get(weight.node).outputs.at(weight.index).type});
    node.scope = owner.scope;
    node.origin = owner.id;
    node.observer = observer.id;
    return {edit.insert(std::move(node), before), 0};
}

/// Puts an observer on the weight that the owner of each weight observer reads.
Result<void> insertWeightObservers(GraphEdit& edit, const Plan& plan)
{
    QS_TRY(const auto weights, observedWeights(edit, plan));
    int count = 0;
    for (const PlannedObserver& observer : plan.observers) {
        const auto found = weights.find(observer.id);
        if (found == weights.end())
            continue;
        const NodeId owner = observer.weightOwner;
        if (const auto op = weightedOp(edit.get(owner))) {
            const WeightPath path = weightPath(edit, argumentRef(edit.get(owner), op->weight));
            const NodeId first = path.layout.empty() ? owner : path.layout.front();
            const ValueRef seen = insertWeightObserver(edit, path.source, observer, first, count++);
            rerouteWeight(edit, owner, op->weight, path, seen);
            continue;
        }
        // One of several weights of a module that is observed inside.
        const ValueRef seen = insertWeightObserver(edit, found->second, observer, owner, count++);
        for (std::size_t i = 0; i < edit.get(owner).args.size(); ++i)
            edit.replaceArgument(owner, i, found->second, seen);
    }
    return {};
}

Result<GraphPtr> withTrainingObservers(const GraphPtr& graph, const TrainingGraph& made,
                                       const JobContext& job)
{
    const auto draft = makeFreedLater<GraphEdit>(*graph);
    observeModules(*draft, *made.model, *made.plan);
    QS_CHECK(insertWeightObservers(*draft, *made.plan));
    QS_CHECK(insertObservers(*draft, *made.plan, identityMap(*made.model), job));
    return std::make_shared<const Graph>(draft->build());
}

bool hasStatistics(const Node& node)
{
    return node.kind == NodeKind::Op && isBatchNorm(node.target)
        && argumentRef(node, "running_mean") && argumentRef(node, "running_var");
}

void findTrained(TrainingGraph& made)
{
    const Graph& graph = *made.graph;
    std::set<NodeId> statistics;
    for (const NodePtr& node : graph.nodes()) {
        if (!hasStatistics(*node))
            continue;
        made.batchNorms.push_back(node->id);
        for (const char* name : {"running_mean", "running_var"})
            if (const ValueRef ref = argumentRef(*node, name);
                graph.get(ref.node).isStored() && statistics.insert(ref.node).second)
                made.statistics.push_back(ref.node);
    }
    for (const NodePtr& node : graph.nodes())
        if (node->kind == NodeKind::Parameter && !node->isBuffer && !node->persistentBuffer
            && !statistics.contains(node->id) && isFloating(node->outputs.at(0).type.dtype)
            && !graph.users({node->id, 0}).empty())
            made.parameters.push_back(node->id);
}

} // namespace

Result<TrainingGraphPtr> prepareForTraining(GraphPtr model, PlanPtr plan, NormFactors factors,
                                            const JobContext& job)
{
    const InferenceScope scope;
    if (const std::string trains = inTrainingMode(*model); !trains.empty())
        return fail(makeError(ErrorCode::Unsupported, trains)
                        .inFile(model->info().path)
                        .withHint(kEvaluateFirst));
    auto made = std::make_shared<TrainingGraph>();
    made->model = std::move(model);
    made->plan = std::move(plan);
    const std::array passes {
        Pass("scale-weights-by-batch-norms",
             [&](const GraphPtr& graph) { return withScaledWeights(graph, *made->plan, factors); }),
        Pass("insert-training-observers",
             [&](const GraphPtr& graph, const JobContext& job) {
                 return withTrainingObservers(graph, *made, job);
             }),
    };
    QS_TRY(made->graph, runPasses(made->model, passes, job));
    findTrained(*made);
    return made;
}

} // namespace qs
