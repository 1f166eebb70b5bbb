// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/fuse_conv_bn.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/replaced_tensors.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/prepare/weighted_op.h"

#include <algorithm>

namespace qs {

namespace {

bool isTraining(const Node& batchNorm)
{
    const Argument* training = batchNorm.tryArg("training");
    return training && training->asBool() && *training->asBool();
}

/// The tensor of a parameter or constant; undefined if the argument is absent. Fails if the value
/// is computed.
Result<at::Tensor> storedTensor(const GraphEdit& edit, ValueRef ref)
{
    if (!ref)
        return at::Tensor();
    const Node& node = edit.get(ref.node);
    if (!node.tensor)
        return fail(makeError(ErrorCode::Unsupported, "not a stored parameter").atNode(node.name));
    return tensorsOf(edit)->getTensor(node.tensor);
}

bool isStored(const GraphEdit& edit, ValueRef ref)
{
    return !ref || edit.get(ref.node).tensor;
}

struct Folded
{
    at::Tensor weight, bias;
};

struct Statistics
{
    at::Tensor mean, variance, weight, bias;
    double eps = 1e-5;
};

Result<Statistics> readStatistics(const GraphEdit& edit, const Node& batchNorm)
{
    Statistics s;
    QS_TRY(s.mean, storedTensor(edit, argumentRef(batchNorm, "running_mean")));
    QS_TRY(s.variance, storedTensor(edit, argumentRef(batchNorm, "running_var")));
    QS_TRY(s.weight, storedTensor(edit, argumentRef(batchNorm, "weight")));
    QS_TRY(s.bias, storedTensor(edit, argumentRef(batchNorm, "bias")));
    if (const Argument* eps = batchNorm.tryArg("eps"); eps && eps->asDouble())
        s.eps = *eps->asDouble();
    if (!s.weight.defined())
        s.weight = at::ones_like(s.mean);
    if (!s.bias.defined())
        s.bias = at::zeros_like(s.mean);
    return s;
}

std::int64_t groupsOf(const Node& conv)
{
    const Argument* groups = conv.tryArg("groups");
    return groups && groups->asInt() ? *groups->asInt() : 1;
}

/// w' = w * (gamma * rsqrt(var + eps)) along the output channels, b' = (b - mean) * rsqrt(var +
/// eps)
/// * gamma + beta: the order of torch.nn.utils.fusion.fuse_conv_bn_weights.
Folded foldConvolution(const at::Tensor& weight, const at::Tensor& bias, const Statistics& s,
                       bool transposed, std::int64_t groups)
{
    const at::Tensor b = bias.defined() ? bias : at::zeros_like(s.mean);
    const at::Tensor rsqrt = at::rsqrt(s.variance + s.eps);
    const at::Tensor factor = s.weight * rsqrt;
    Folded folded;
    if (transposed && groups > 1) {
        // [in, out / groups, ...]: the output channel is (group of the input channel, second axis).
        std::vector<std::int64_t> grouped {groups, weight.size(0) / groups, weight.size(1), -1};
        const auto split = factor.reshape({groups, 1, weight.size(1), 1});
        folded.weight = (weight.reshape(grouped) * split).reshape(weight.sizes());
    } else {
        std::vector<std::int64_t> shape(std::size_t(weight.dim()), 1);
        shape[transposed ? 1 : 0] = -1;
        folded.weight = weight * factor.reshape(shape);
    }
    folded.weight = folded.weight.to(weight.scalar_type());
    folded.bias = ((b - s.mean) * rsqrt * s.weight + s.bias)
                      .to(bias.defined() ? bias.scalar_type() : weight.scalar_type());
    return folded;
}

/// The order of torch.nn.utils.fusion.fuse_linear_bn_weights: the factor is formed first and used
/// for the bias as well.
Folded foldLinear(const at::Tensor& weight, const at::Tensor& bias, const Statistics& s)
{
    const at::Tensor b = bias.defined() ? bias : at::zeros_like(s.mean);
    const at::Tensor factor = s.weight * at::rsqrt(s.variance + s.eps);
    return {weight * factor.unsqueeze(-1).to(weight.scalar_type()),
            ((b - s.mean) * factor + s.bias)
                .to(bias.defined() ? bias.scalar_type() : weight.scalar_type())};
}

bool onlyReader(const GraphEdit& edit, ValueRef value, NodeId reader)
{
    const auto users = edit.users(value);
    return std::all_of(users.begin(), users.end(),
                       [&](const Use& use) { return use.node == reader; });
}

/// The names of a parameter.
struct ParameterNames
{
    std::string name, target;
};

/// Adds a parameter for a folded tensor with the id `stored`; its names are those of the original.
NodeId addParameter(GraphEdit& edit, const at::Tensor& tensor, TensorId stored,
                    const ParameterNames& names, NodeId origin, NodeId like)
{
    Node node;
    node.kind = NodeKind::Parameter;
    node.name = names.name + "_folded";
    node.target = names.target + "_folded";
    node.origin = origin;
    node.scope = edit.get(like).scope;
    node.tensor = stored;
    node.outputs.push_back({"", typeOfTensor(tensor)});
    return edit.insertAfter(std::move(node), like);
}

std::string siblingPath(const std::string& path, const std::string& leaf)
{
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? leaf : path.substr(0, dot + 1) + leaf;
}

/// Names of the layer's bias, or of the new bias beside its weight.
ParameterNames namesOfBias(const GraphEdit& edit, ValueRef bias, const Node& weight)
{
    if (bias)
        return {edit.get(bias.node).name, edit.get(bias.node).target};
    const std::string& name = weight.name;
    return {name.ends_with("weight") ? name.substr(0, name.size() - 6) + "bias" : name + "_bias",
            siblingPath(weight.target, "bias")};
}

void setBias(GraphEdit& edit, NodeId convId, const WeightedOp& op, ValueRef bias)
{
    const Node& conv = edit.get(convId);
    auto args = conv.args;
    if (op.bias.empty()) { // mm(x, w) becomes addmm(bias, x, w)
        const NamedArgument x {"mat1", args.at(0).value}, w {"mat2", args.at(1).value};
        edit.change(convId).target = kAddmmTarget;
        edit.setArgs(convId, {{"self", bias}, x, w});
        return;
    }
    const int at = argumentIndex(conv, op.bias);
    if (at >= 0)
        args[std::size_t(at)].value = bias;
    else
        args.insert(args.begin() + argumentIndex(conv, op.weight) + 1, {op.bias, bias});
    edit.setArgs(convId, std::move(args));
}

/// Gives a new parameter the names of the one that it replaces, so that printed code is unchanged.
void inheritName(GraphEdit& edit, NodeId fresh, NodeId old, const ParameterNames& names)
{
    if (edit.contains(old)) {
        if (!edit.users({old, 0}).empty())
            return; // another layer shares it
        edit.erase(old);
    }
    edit.change(fresh).target = names.target;
    edit.rename(fresh, names.name);
}

Result<void> fold(GraphEdit& edit, const FoldablePair& pair)
{
    const Node conv = edit.get(pair.conv);
    const Node weightNode = edit.get(pair.weight.source.node);
    const ValueRef biasRef = pair.op.bias.empty() ? ValueRef {} : argumentRef(conv, pair.op.bias);
    const Node& norm = edit.get(pair.batchNorm);
    QS_TRY(const Statistics s, readStatistics(edit, norm));
    const std::string replaced = replacedTensorsBelow(
        edit,
        {pair.weight.source, biasRef, argumentRef(norm, "running_mean"),
         argumentRef(norm, "running_var"), argumentRef(norm, "weight"), argumentRef(norm, "bias")});
    QS_TRY(const at::Tensor weight, storedTensor(edit, pair.weight.source));
    QS_TRY(const at::Tensor bias, storedTensor(edit, biasRef));
    const auto foldPair = [=, kind = pair.op.kind, groups = groupsOf(conv)] {
        return guardTorchValue<Folded>([&]() -> Result<Folded> {
            if (kind == WeightedOp::Kind::Linear)
                return foldLinear(weight, bias, s);
            return foldConvolution(weight, bias, s, kind == WeightedOp::Kind::TransposedConvolution,
                                   groups);
        });
    };
    QS_TRY(const Folded folded, foldPair());
    // Computed on demand: the original weight exists too, and most stages read only one of the two.
    const TensorId derived = tensorsOf(edit)->addDerived(
        [foldPair]() -> Result<at::IValue> {
            QS_TRY(const Folded again, foldPair());
            return at::IValue(again.weight);
        },
        folded.weight.nbytes());

    const ParameterNames weightNames {weightNode.name, weightNode.target};
    const ParameterNames biasNames = namesOfBias(edit, biasRef, weightNode);
    const NodeId newWeight
        = addParameter(edit, folded.weight, derived, weightNames, weightNode.id, weightNode.id);
    const NodeId newBias
        = addParameter(edit, folded.bias, tensorsOf(edit)->add(folded.bias), biasNames,
                       biasRef ? biasRef.node : weightNode.id, newWeight);
    for (const NodeId made : {newWeight, newBias})
        edit.change(made).tensorSha256 = replaced;
    rerouteWeight(edit, pair.conv, pair.op.weight, pair.weight, {newWeight, 0});
    setBias(edit, pair.conv, pair.op, {newBias, 0});
    for (const NodeId hop : pair.weight.layout)
        if (edit.contains(hop) && edit.users({hop, 0}).empty())
            edit.erase(hop);
    inheritName(edit, newWeight, weightNode.id, weightNames);
    inheritName(edit, newBias, biasRef.node, biasNames);
    return {};
}

} // namespace

std::optional<FoldablePair> foldablePair(const GraphEdit& edit, const MatchGroup& group)
{
    for (NodeId id : group.members) {
        const Node* node = edit.tryGet(id);
        if (!node || !isBatchNorm(node->target) || isTraining(*node) || node->args.empty())
            continue;
        const ValueRef input = argumentRef(*node, "input");
        const bool inside = input
            && std::find(group.members.begin(), group.members.end(), input.node)
                != group.members.end();
        if (!inside || !onlyReader(edit, input, id) || !argumentRef(*node, "running_mean"))
            continue;
        const Node& conv = edit.get(input.node);
        const auto op = weightedOp(conv);
        if (!op || op->kind == WeightedOp::Kind::Embedding || op->kind == WeightedOp::Kind::Other)
            continue;
        const WeightPath path = weightPath(edit, argumentRef(conv, op->weight));
        bool stored = path.source && isStored(edit, path.source);
        stored = stored && (op->bias.empty() || isStored(edit, argumentRef(conv, op->bias)));
        for (const char* name : {"weight", "bias", "running_mean", "running_var"})
            stored = stored && isStored(edit, argumentRef(*node, name));
        for (std::uint32_t i = 1; i < node->outputs.size(); ++i)
            stored = stored && edit.users({id, i}).empty();
        if (stored)
            return FoldablePair {conv.id, id, *op, path};
    }
    return std::nullopt;
}

Result<bool> fuseConvBn(GraphEdit& edit, const Plan& plan, ValueMap& valueOf)
{
    bool changed = false;
    for (const MatchGroup& group : plan.groups) {
        if (!group.fused)
            continue;
        while (const auto pair = foldablePair(edit, group)) {
            const std::string name = edit.get(pair->conv).name;
            if (auto done = fold(edit, *pair); !done)
                return fail(std::move(done).error().atNode(name));
            const ValueRef before {pair->conv, 0}, after {pair->batchNorm, 0};
            edit.replaceUses(after, before);
            edit.erase(pair->batchNorm);
            valueOf.erase(before);
            valueOf[after] = before;
            changed = true;
        }
    }
    return changed;
}

} // namespace qs
